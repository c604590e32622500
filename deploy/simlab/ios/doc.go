// Package ios imitates a router with an IOS-like command line. What it knows is a grammar (grammar.go): a tree of keywords
// and arguments with what each does. A feature is added as nodes of that tree (exec.go, config.go), state in Router or in
// the fabric, and lines in the generated configuration (running.go).
package ios
