// Package lab runs the product against a real GNS3 server and real devices. Its tests are built with the tag lab and want these named by
// the environment; README.md in this folder tells how.
package lab
