// Package store keeps conversations, turns and what became of them in a SQL database. It is the only place that knows GORM,
// and every query is scoped to a user and a project, or to a turn that was.
package store
