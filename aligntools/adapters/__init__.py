"""Other aligners' Python interfaces over our models; nothing here takes another's name by itself."""
