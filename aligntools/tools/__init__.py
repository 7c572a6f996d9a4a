"""What uses models and links to answer questions about text: a module or a folder for each task."""
