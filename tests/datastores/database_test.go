// SPDX-License-Identifier: Apache-2.0

package datastores_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/terrarium-garden/terrarium/tests/harness"
)

const (
	// password is looked for in everything that a server tells.
	password = "correct-horse-battery"
	// nobody is the user of a database: PostgreSQL refuses to run as root.
	nobody = 65534
)

// database is a server of databases of its own, which is reached over TCP by password.
type database struct {
	// product is its name, end the signal that ends it at once.
	product string
	end     syscall.Signal

	dir, address string
	command      *exec.Cmd
	output       bytes.Buffer
}

// place makes the folder of a database, with the certificates of its server if there are any.
func (d *database) place(t *testing.T, keys *certificates) {
	t.Helper()
	dir, err := os.MkdirTemp("", "terrarium-database-") //nolint:usetesting // Another user has to reach it.
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	d.dir, d.address = dir, freeAddress(t)
	if keys != nil {
		write(t, d.file("server.crt"), keys.server.cert)
		write(t, d.file("server.key"), keys.server.key)
		write(t, d.file("ca.crt"), keys.authority)
	}
}

func (d *database) file(name string) string { return filepath.Join(d.dir, name) }

// encrypted reports whether it has certificates.
func (d *database) encrypted() bool {
	_, err := os.Stat(d.file("server.crt"))

	return err == nil
}

// prepare runs a program that creates the files of the database, and has it stopped at the end of the test.
func (d *database) prepare(t *testing.T, program string, args ...string) {
	t.Helper()
	own(t, d.dir)
	create := exec.CommandContext(t.Context(), program, args...)
	d.confine(create)
	if out, err := create.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", program, err, out)
	}
	t.Cleanup(func() { d.stop(t) })
}

// run starts the server, and returns once it answers.
func (d *database) run(t *testing.T, program string, args ...string) {
	t.Helper()
	d.command = exec.Command(program, args...) //nolint:noctx // Its own program; it is ended by signals.
	d.confine(d.command)
	d.command.Stdout, d.command.Stderr = &d.output, &d.output
	if err := d.command.Start(); err != nil {
		t.Fatal(err)
	}
	harness.Eventually(t, d.product+" answers", func(ctx context.Context) error {
		c, err := new(net.Dialer).DialContext(ctx, "tcp", d.address)
		if err != nil {
			return err
		}

		return c.Close()
	})
}

// confine runs a program as the user of the database, in its folder, where also temporary files are: several servers choose the same
// names for them.
func (d *database) confine(command *exec.Cmd) {
	command.Dir, command.Env = d.dir, append(os.Environ(), "TMPDIR="+d.dir)
	if os.Getuid() == 0 {
		command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
}

// stop ends the server at once, as if its machine was lost.
func (d *database) stop(t *testing.T) {
	t.Helper()
	if d.command == nil {
		return
	}
	_ = d.command.Process.Signal(d.end)
	_ = d.command.Wait()
	d.command = nil
	if t.Failed() {
		t.Logf("%s:\n%s", d.product, d.output.String())
	}
}

// own gives the files in a directory to the user of the database.
func own(t *testing.T, dir string) {
	t.Helper()
	if os.Getuid() != 0 {
		return
	}
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}

		return os.Lchown(path, nobody, nobody)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// freeAddress finds a port outside of the range from which the system takes those of clients: a datastore that is away leaves its port.
func freeAddress(t *testing.T) string {
	t.Helper()
	const first, ports = 20000, 10000
	for range 100 {
		address := fmt.Sprintf("127.0.0.1:%d", first+rand.IntN(ports))
		if l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", address); err == nil {
			_ = l.Close()

			return address
		}
	}
	t.Fatal("no port is free")

	return ""
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}
