"""Other aligners' Python interfaces over our models; nothing here has another package's name by itself."""
