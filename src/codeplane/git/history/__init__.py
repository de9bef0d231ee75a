"""Reading commits, trees and the differences between them."""
