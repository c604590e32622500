// Package llm runs the product against a real model's server on this machine. Its tests are built with the tag llm; README.md in this
// folder tells how.
package llm
