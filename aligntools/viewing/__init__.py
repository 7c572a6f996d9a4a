"""Looking at results: pages of HTML, pictures in SVG and text for terminals, all returned as str."""
