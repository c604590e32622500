// Package console works on devices through their telnet consoles, as GNS3 serves them: raw TCP with telnet negotiation.
//
// A Pool owns the connections. Run brings one console into a known state from whatever it is in, runs commands one after
// the other, and returns the clean output of each. The device's own prompt is learned, and only that exact prompt at the
// start of a line ends a command; nothing waits for a fixed time. What differs between kinds of devices is data: see
// platforms/ and Target.Platform.
//
// Push types confirmed configuration lines: each at most once, only at the verified prompt of the mode it is meant for, and
// none after one that the device did not take. It says what is known of each, and leaves the mode whatever happens.
//
// RunConfirmed is for a command that a person has confirmed, such as reload: it also answers the device's own [confirm].
//
// Files: pool.go, visit.go and parked.go (who may use a console, and how long it is kept open), push.go, plan.go and
// pushline.go (configuration lines), session.go (one logged-on console), sync.go, identify.go and enable.go (the way to a
// known state, what the device is, and its privileged level), command.go, confirm.go and reply.go (one command, the
// confirmations it asks for, and its output), below them screen.go, prompt.go and capture.go (from bytes to text), link.go
// and telnet.go (TCP and its options), platform.go (what is known of devices).
package console
