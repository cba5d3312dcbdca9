"""What each event does in each state; read table.py first."""
