// Package schema is what the rooms of the house exchange: wire types, events, the tool response, error codes and the names
// that Temporal knows. It needs nothing but the standard library, and nothing here has a side effect.
package schema
