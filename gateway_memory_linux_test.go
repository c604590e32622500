package main

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestLargeImagesCostLittle: images go through to the GNS3 server and back without being held here.
func TestLargeImagesCostLittle(t *testing.T) {
	if testing.Short() {
		t.Skip("moves some gigabytes")
	}
	t.Parallel()
	const (
		size   = 2 << 30
		mostMB = 64
	)
	table := crc32.MakeTable(crc32.Castagnoli)
	gns3 := http.NewServeMux()
	gns3.HandleFunc("GET /v3/version", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"version": "3.1.0"}`) })
	gns3.HandleFunc("POST /v3/images/upload/{name}", func(w http.ResponseWriter, r *http.Request) {
		sum := crc32.New(table)
		n, err := io.Copy(sum, r.Body)
		if err != nil {
			t.Errorf("upload: %v", err)
		}
		_ = json.NewEncoder(w).Encode([]int64{r.ContentLength, n, int64(sum.Sum32())})
	})
	gns3.HandleFunc("GET /v3/images/{name}", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.CopyN(w, &image{}, size) })
	server := httptest.NewServer(gns3)
	defer server.Close()
	s := startSite(t)
	s.backends[1] = server.URL
	api, at := start(t, true, append([]string{"api", "--listen", "127.0.0.1:0"}, s.backends...)...)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	before, most, over := api.residentMB(), 0, make(chan struct{})
	measured := make(chan struct{})
	go func() {
		defer close(measured)
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				most = max(most, api.residentMB())
			case <-over:
				return
			}
		}
	}()

	sum := crc32.New(table)
	req, err := http.NewRequestWithContext(s.bounded(), http.MethodPost, at+"/v3/images/upload/x.qcow2", io.TeeReader(io.LimitReader(&image{}, size), sum))
	if err != nil {
		t.Fatal(err)
	}
	req.ContentLength = size
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	answer, _ := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if want := fmt.Sprintf("[%d,%d,%d]", size, size, sum.Sum32()); strings.TrimSpace(string(answer)) != want {
		t.Errorf("%d %s, not %s", resp.StatusCode, answer, want)
	}
	down := crc32.New(table)
	if resp, err = client.Get(at + "/v3/images/x.qcow2"); err != nil {
		t.Fatal(err)
	}
	if n, err := io.Copy(down, resp.Body); err != nil || n != size || down.Sum32() != sum.Sum32() {
		t.Errorf("%d bytes came back, or others: %v", n, err)
	}
	_ = resp.Body.Close()
	close(over)
	<-measured
	t.Logf("%d MB before, %d MB at most", before, most)
	if most-before > mostMB {
		t.Errorf("%d MB more for an image of %d MB", most-before, size>>20)
	}
}

// image is bytes without end that no two blocks have alike.
type image struct {
	block [1 << 16]byte
	at, n int
}

// Read makes the next bytes.
func (i *image) Read(p []byte) (int, error) {
	if i.at == 0 {
		i.n++
		for k := range 8 {
			i.block[k] = byte(i.n >> (8 * k))
		}
	}
	n := copy(p, i.block[i.at:])
	i.at = (i.at + n) % len(i.block)
	return n, nil
}
