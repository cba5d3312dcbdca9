"""The practice model's parts: what it reads, what it says, and how it puts that on the wire."""
