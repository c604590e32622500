// Package activities is everything with a side effect that a turn does: the store, the model, the tools, the events. Each method
// is one Temporal activity, takes one struct and gives one back, and can be run twice without doing its work twice.
package activities
