package capture

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// real gives the real tshark.
func real(t *testing.T) *Tshark {
	t.Helper()
	if _, err := exec.LookPath("tshark"); err != nil {
		t.Skip("tshark is not on PATH: install it (apt install tshark) to run this test")
	}
	return New("")
}

// script gives a Tshark whose program is a shell script.
func script(t *testing.T, text string) *Tshark {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tshark")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return New(path)
}

func arguments(t *testing.T, line string) Arguments {
	t.Helper()
	a, err := ParseLine(line)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// pcap writes a capture of frames, a second apart.
func pcap(frames ...[]byte) []byte {
	order := binary.LittleEndian
	b := order.AppendUint32(nil, 0xa1b2c3d4)
	b = order.AppendUint16(order.AppendUint16(b, 2), 4)
	b = append(b, make([]byte, 8)...)
	b = order.AppendUint32(order.AppendUint32(b, 0xffff), 1) // Ethernet
	for i, f := range frames {
		b = order.AppendUint32(order.AppendUint32(b, uint32(1_767_225_600+i)), 0)
		b = order.AppendUint32(order.AppendUint32(b, uint32(len(f))), uint32(len(f)))
		b = append(b, f...)
	}
	return b
}

// pings are echo requests and their answers between 10.0.0.1 and 10.0.0.2.
func pings(n int) [][]byte {
	var frames [][]byte
	for i := range n {
		frames = append(frames, echo(8, 1, 2, i), echo(0, 2, 1, i))
	}
	return frames
}

func echo(kind byte, from, to byte, sequence int) []byte {
	icmp := append([]byte{kind, 0, 0, 0, 0x12, 0x34, byte(sequence >> 8), byte(sequence)}, make([]byte, 56)...)
	binary.BigEndian.PutUint16(icmp[2:], checksum(icmp))
	ip := []byte{0x45, 0, 0, 0, 0, 0, 0, 0, 64, 1, 0, 0, 10, 0, 0, from, 10, 0, 0, to}
	binary.BigEndian.PutUint16(ip[2:], uint16(len(ip)+len(icmp)))
	binary.BigEndian.PutUint16(ip[10:], checksum(ip))
	frame := []byte{0, 0x50, 0x79, 0x66, 0x68, to, 0, 0x50, 0x79, 0x66, 0x68, from, 8, 0}
	return append(append(frame, ip...), icmp...)
}

func checksum(b []byte) uint16 {
	sum := 0
	for i := 0; i < len(b); i += 2 {
		sum += int(b[i])<<8 + int(b[i+1])
	}
	return ^uint16(sum>>16 + sum&0xffff)
}
