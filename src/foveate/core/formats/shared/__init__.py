"""What the formats share: guards, header lines, what stands beside blocks, JSON parts."""
