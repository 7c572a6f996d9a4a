"""How functions run: threads, engines, progress."""
