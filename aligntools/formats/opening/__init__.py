"""Opening files of any compression, pipes and output; recognizing what they hold."""
