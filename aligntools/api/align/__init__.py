"""Word alignment: training aligners, applying them, filtering pairs."""
