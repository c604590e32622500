// Package simlab is a simulated GNS3 lab: a GNS3 v3 REST server with two projects, and devices with state behind telnet
// consoles. It stands in for a real server in demonstrations and tests, and shares no code with what it is used to test.
//
//	console/  serves one device's console over telnet
//	terminal/ the line discipline between a console and a device's program
//	fabric/   the network between the devices
//	ios/      an IOS-like router, and a switch
//	vpcs/     a VPCS host
//
// README.md says what is simulated, what is simplified, and what a real device would do differently.
package simlab
