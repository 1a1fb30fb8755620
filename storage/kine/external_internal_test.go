// SPDX-License-Identifier: Apache-2.0

package kine

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/google/go-cmp/cmp"
)

// TestUnreachable tells what may change from what has to be mended: a start waits for the first alone.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	want, got := map[string]bool{}, map[string]bool{}
	for reason, tc := range map[string]struct {
		err  error
		want bool
	}{
		"a server that does not run":       {&net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}, true},
		"a server that does not answer":    {&net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded}, true},
		"a name that cannot be asked now":  {&net.OpError{Op: "dial", Err: &net.DNSError{IsTemporary: true}}, true},
		"a server that ends in the middle": {mysql.ErrInvalidConn, true},
		"a port that is none":              {&net.OpError{Op: "dial", Err: &net.DNSError{Err: "unknown port"}}, false},
		"a file that is not there":         {&os.PathError{Op: "open", Err: syscall.ENOENT}, false},
		"a wrong password":                 {&mysql.MySQLError{Number: 1045}, false},
		"something else":                   {errors.New("else"), false},
	} {
		want[reason], got[reason] = tc.want, unreachable(fmt.Errorf("connect: %w", tc.err))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("unreachable(...) (-want +got):\n%s", diff)
	}
}
