"""Text with tags in it: XML and HTML, placeholders of translation files, USFM."""
