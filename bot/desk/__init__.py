"""The operators: who they are, where they see a conversation, and what passes to and fro."""
