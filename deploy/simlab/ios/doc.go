// Package ios imitates a router, or a switch, with an IOS-like command line. What it knows is a grammar (grammar.go): a tree of
// keywords and arguments with what each does, one for each mode (mode.go). A feature is added as nodes of a tree (exec.go,
// config.go, interface.go, ospf.go …), state in Router or in the fabric, and lines in the generated configuration
// (running.go). A command that is only stored needs a node that keeps (settings.go), and nothing else.
package ios
