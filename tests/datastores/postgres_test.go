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

// password is looked for in everything that a server tells.
const password = "correct-horse-battery"

// nobody is the user of the database, which refuses to run as root.
const nobody = 65534

// postgres is a server of databases of its own, which is reached over TCP by password.
type postgres struct {
	dir, address string
	command      *exec.Cmd
	output       bytes.Buffer
}

// newPostgres creates and starts a server, with TLS if there are certificates.
func newPostgres(t *testing.T, keys *certificates) *postgres {
	t.Helper()
	initdb := program(t, "initdb")
	dir, err := os.MkdirTemp("", "terrarium-postgres-") //nolint:usetesting // Another user has to reach it.
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	p := &postgres{dir: dir, address: freeAddress(t)}
	secret := filepath.Join(dir, "password")
	write(t, secret, []byte(password+"\n"))
	own(t, p.dir)
	create := exec.CommandContext(t.Context(), initdb, "--pgdata", p.data(), "--username", "garden", "--pwfile", secret,
		"--auth", "scram-sha-256", "--no-sync", "--encoding", "UTF8", "--locale", "C")
	create.SysProcAttr, create.Dir = user(), dir
	if out, err := create.CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	if keys != nil {
		write(t, filepath.Join(dir, "server.crt"), keys.server.cert)
		write(t, filepath.Join(dir, "server.key"), keys.server.key)
		write(t, filepath.Join(dir, "ca.crt"), keys.authority)
		write(t, filepath.Join(p.data(), "pg_hba.conf"), []byte("hostssl all all 127.0.0.1/32 scram-sha-256 clientcert=verify-ca\n")) //nolint:dupword // The second "all" is another column.
		own(t, p.dir)
	}
	t.Cleanup(func() { p.stop(t) })
	p.start(t)

	return p
}

func (p *postgres) data() string { return filepath.Join(p.dir, "data") }

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

func user() *syscall.SysProcAttr {
	if os.Getuid() != 0 {
		return nil
	}

	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
}

// start runs the server, and returns once it answers.
func (p *postgres) start(t *testing.T) {
	t.Helper()
	host, port, err := net.SplitHostPort(p.address)
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"-D", p.data(), "-p", port, "-c", "listen_addresses=" + host, "-c", "unix_socket_directories=" + p.dir}
	if _, err := os.Stat(filepath.Join(p.dir, "server.crt")); err == nil {
		args = append(args, "-c", "ssl=on", "-c", "ssl_cert_file="+filepath.Join(p.dir, "server.crt"),
			"-c", "ssl_key_file="+filepath.Join(p.dir, "server.key"), "-c", "ssl_ca_file="+filepath.Join(p.dir, "ca.crt"))
	}
	p.command = exec.Command(program(t, "postgres"), args...) //nolint:noctx // Its own program; it is ended by signals.
	p.command.SysProcAttr, p.command.Dir = user(), p.dir
	p.command.Stdout, p.command.Stderr = &p.output, &p.output
	if err := p.command.Start(); err != nil {
		t.Fatal(err)
	}
	harness.Eventually(t, "PostgreSQL answers", func(ctx context.Context) error {
		c, err := new(net.Dialer).DialContext(ctx, "tcp", p.address)
		if err != nil {
			return err
		}

		return c.Close()
	})
}

// stop ends the server at once, as if its machine was lost.
func (p *postgres) stop(t *testing.T) {
	t.Helper()
	if p.command == nil {
		return
	}
	_ = p.command.Process.Signal(syscall.SIGQUIT)
	_ = p.command.Wait()
	p.command = nil
	if t.Failed() {
		t.Logf("PostgreSQL:\n%s", p.output.String())
	}
}

// endpoint is the URL of a database, with the password.
func (p *postgres) endpoint(database string) string {
	return fmt.Sprintf("postgres://garden:%s@%s/%s", password, p.address, database)
}

// program finds a program of PostgreSQL, which Debian keeps out of the PATH.
func program(t *testing.T, name string) string {
	t.Helper()
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if err != nil || len(found) == 0 {
		t.Skipf("%s of PostgreSQL is not installed: run make test-datastores, which installs it", name)
	}

	return found[len(found)-1]
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
