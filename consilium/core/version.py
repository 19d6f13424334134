"""The version of the product, stored with everything that it computes."""

VERSION = "0.1.0"
