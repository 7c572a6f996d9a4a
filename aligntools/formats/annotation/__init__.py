"""Tags, trees and word classes: CoNLL, tagged text and lists."""
