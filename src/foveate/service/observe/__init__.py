"""What operators see of a running service: metrics, traces, logs. Never content, unless asked."""
