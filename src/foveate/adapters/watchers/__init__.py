"""What watches assemblies, from outside: one tool a file, its vendor imported when it is asked."""
