"""What `import aligntools` gives: typed functions and models, one module a task. Everything heavy is imported late."""
