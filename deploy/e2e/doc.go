// Package e2e drives GNS3's own web UI, unmodified and served through our gateway, with a real browser in front of a real GNS3 server. Its tests
// are built with the tag e2e and want the lab named by the environment; README.md in this folder tells how.
package e2e
