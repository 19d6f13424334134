"""The version of the product, as it stands beside everything that it computed."""

VERSION = "0.1.0"
