package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gns3copilot/deploy/scriptmodel"
)

// A fresh stack that does nothing.
const (
	freshFor = 30 * time.Second
	barFresh = int64(400e6) // bytes, ours and Temporal's together
)

// measureFresh starts everything that dev brings along and reads what it takes a while later.
func measureFresh(ctx context.Context, out *report, binary, dir string) error {
	s, err := startServer(binary, filepath.Join(dir, "data"))
	if err != nil {
		return err
	}
	defer s.stop()
	select {
	case <-time.After(freshFor):
	case <-ctx.Done():
		return ctx.Err()
	}
	u, err := s.usage()
	if err != nil {
		return err
	}
	fmt.Printf("resident %v after a fresh start: %s in our process, %s in Temporal's\n", freshFor, megabytes(u.own), megabytes(u.temporal))
	out.judge(u.sum() < barFresh, fmt.Sprintf("resident %v after a fresh start, Temporal's too", freshFor), "", megabytes(u.sum()), "", "", "< "+megabytes(barFresh))
	return nil
}

// Many short turns, after which a server must be no larger than after half of them.
const (
	growthAtOnce  = 16
	growthMessage = "a word"
	growthSettle  = 5 * time.Second // for the garbage of the turns before a look
)

// growthLooks is after how many turns the memory is read. What a process takes for its pools and caches, it has taken by the second.
var growthLooks = [...]int{500, 1500, 3000}

// growthBar is what a process of that size may grow by: the collector's own swing.
func growthBar(own int64) int64 { return own/10 + 20e6 }

// measureGrowth runs turns on a fresh stack and compares what our process takes after the last two looks.
func measureGrowth(ctx context.Context, out *report, binary, dir string) error {
	s, err := startSubject(ctx, binary, dir)
	if err != nil {
		return err
	}
	defer s.stop()
	s.model.On(growthMessage, func(r *scriptmodel.Reply) { r.Say("Done.") })
	ran := 0
	var looks []usage
	for _, n := range growthLooks {
		_, err := repeat(n-ran, growthAtOnce, func(*sample) error { return s.through(ctx, growthMessage, func(string) {}) })
		if err != nil {
			return err
		}
		ran = n
		u, err := s.look(ctx, ran)
		if err != nil {
			return err
		}
		looks = append(looks, u)
	}
	before, after := looks[len(looks)-2].own, looks[len(looks)-1].own
	bar := growthBar(before)
	out.judge(after-before <= bar, fmt.Sprintf("our process's growth from %d to %d turns", growthLooks[1], growthLooks[2]),
		megabytes(before), megabytes(after), fmt.Sprintf("%.2f", float64(after)/float64(before)), megabytes(after-before), "≤ "+megabytes(bar))
	return nil
}

// look reads and prints what the server takes once its turns are closed.
func (s *subject) look(ctx context.Context, turns int) (usage, error) {
	if err := s.awaitClosed(ctx, turns); err != nil {
		return usage{}, err
	}
	select {
	case <-time.After(growthSettle):
	case <-ctx.Done():
		return usage{}, ctx.Err()
	}
	u, err := s.server.usage()
	if err != nil {
		return u, err
	}
	files, err := sizes(s.server.data)
	fmt.Printf("%d turns: resident %s in our process, %s in Temporal's; on disk %s\n", turns, megabytes(u.own), megabytes(u.temporal), files)
	return u, err
}

// sizes lists what is in a directory with the size of each entry, folders with all that is in them.
func sizes(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	var parts []string
	for _, e := range entries {
		var size int64
		err := filepath.WalkDir(filepath.Join(dir, e.Name()), func(_ string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return ignoreGone(err)
			}
			info, err := d.Info()
			if err == nil {
				size += info.Size()
			}
			return ignoreGone(err)
		})
		if err != nil {
			return "", err
		}
		if size > 100e3 {
			parts = append(parts, e.Name()+" "+megabytes(size))
		}
	}
	return strings.Join(parts, ", "), nil
}

// ignoreGone forgives a file that was removed while we looked.
func ignoreGone(err error) error {
	if os.IsNotExist(err) {
		return nil
	}
	return err
}
