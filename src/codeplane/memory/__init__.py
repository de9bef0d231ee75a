"""What runs are taught by friction: records, their lifecycle, and the friction itself."""
