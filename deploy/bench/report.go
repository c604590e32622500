package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"
)

// report collects what was measured beside its baseline and its bar.
type report struct {
	rows   [][]string
	missed bool
}

// figure is a measured duration beside its baseline, if it has one, and its bar. What is judged is the difference to the baseline.
type figure struct {
	name                 string
	direct, through, bar time.Duration
}

func (f figure) over() time.Duration { return f.through - f.direct }

func (r *report) add(figures ...figure) {
	for _, f := range figures {
		ratio, direct := "", ""
		if f.direct > 0 {
			ratio, direct = fmt.Sprintf("%.1f", float64(f.through)/float64(f.direct)), short(f.direct)
		}
		r.judge(f.over() <= f.bar, f.name, direct, short(f.through), ratio, short(f.over()), "≤ "+f.bar.String())
	}
}

// judge adds a row of any kind: name, direct, through us, ratio, over direct, bar.
func (r *report) judge(met bool, row ...string) {
	if !met {
		row[len(row)-1] += "  MISSED"
		r.missed = true
	}
	r.rows = append(r.rows, row)
}

func (r *report) print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "figure\tdirect\tthrough us\tratio\tover direct\tbar")
	for _, row := range r.rows {
		for i, cell := range row {
			if i > 0 {
				fmt.Fprint(w, "\t")
			}
			fmt.Fprint(w, cell)
		}
		fmt.Fprintln(w)
	}
	return w.Flush()
}

// short is a duration without digits that mean nothing.
func short(d time.Duration) string {
	if d < 10*time.Millisecond {
		return d.Round(time.Microsecond).String()
	}
	return d.Round(100 * time.Microsecond).String()
}

func median[T cmp.Ordered](values []T) T { return percentile(values, 50) }

// percentile gives the value that p of a hundred stay below, and zero of none.
func percentile[T cmp.Ordered](values []T, p int) T {
	if len(values) == 0 {
		var zero T
		return zero
	}
	values = slices.Sorted(slices.Values(values))
	return values[min(len(values)*p/100, len(values)-1)]
}
