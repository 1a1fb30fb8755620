// SPDX-License-Identifier: Apache-2.0

package install

import (
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/terrarium-garden/terrarium/packaging/systemd"
)

const (
	modeProgram = 0o755
	modePublic  = 0o644
	// modeSecret is the mode of files that the service reads and that may contain secrets.
	modeSecret = 0o640
)

// DefaultPrefix is where the files of a service go unless a package owns them.
const DefaultPrefix = "/usr/local"

// Options say what to install.
type Options struct {
	// Service is the service.
	Service systemd.Service
	// Root is the directory in which a system is; empty is this machine. In another one, files are written and nothing else is done.
	Root string
	// Prefix is the directory below which program and unit are installed, such as /usr/local.
	Prefix string
	// Program is the path of the program to install.
	Program string
	// Configuration are files that only the service may read. Those that exist are kept.
	Configuration []ConfigFile
	// Start enables and starts the service.
	Start bool
}

// ConfigFile is a file of the configuration.
type ConfigFile struct {
	Path    string
	Content []byte
	// Replace says that an existing file is overwritten.
	Replace bool
}

// file is one file of an installed service.
type file struct {
	path string
	mode fs.FileMode
	// group is the group that may read it; empty is root.
	group   string
	content []byte
	// source is the path of the content of a program.
	source string
	// keep says that an existing file is kept.
	keep bool
}

// program returns the path of the installed program.
func (o Options) program() string { return filepath.Join(o.Prefix, "bin/terrarium") }

// unit returns the path of the unit.
func (o Options) unit() string { return filepath.Join(o.Prefix, "lib/systemd/system", o.Service.Unit) }

// users returns the path of the description of the user.
func (o Options) users() string {
	return filepath.Join(o.Prefix, "lib/sysusers.d", strings.TrimSuffix(o.Service.Unit, ".service")+".conf")
}

// files returns the files of the service in the order in which they are written. If a package owns the service, they are only those of the
// configuration.
func (o Options) files(packaged bool) []file {
	var all []file
	if !packaged {
		all = append(all,
			file{path: o.users(), mode: modePublic, content: o.Service.Users()},
			file{path: o.program(), mode: modeProgram, source: o.Program},
			file{path: o.unit(), mode: modePublic, content: o.Service.Render(o.program())})
	}
	for _, c := range o.Configuration {
		all = append(all, file{path: c.Path, mode: modeSecret, group: o.Service.User, content: c.Content, keep: !c.Replace})
	}
	return all
}

// Print writes what Apply would do, without doing it. The content of files that may have secrets is not printed.
func (o Options) Print(w io.Writer, m Machine) error {
	packaged := o.Root == "" && m.packaged(o.Service)
	for _, f := range o.files(packaged) {
		owner := "root:root"
		if f.group != "" {
			owner = "root:" + f.group
		}
		body := string(f.content)
		switch {
		case f.source != "":
			body = "(a copy of " + f.source + ")\n"
		case f.keep && m.exists(filepath.Join(o.Root, f.path)):
			body = "(exists and is kept)\n"
		case f.mode == modeSecret && !strings.HasSuffix(f.path, ".yaml"):
			body = fmt.Sprintf("(%d bytes that are not shown)\n", len(f.content))
		}
		if _, err := fmt.Fprintf(w, "### %s (mode %04o, owner %s)\n%s\n", filepath.Join("/", o.Root, f.path), f.mode, owner, body); err != nil {
			return err
		}
	}
	if o.Root != "" {
		return nil
	}
	commands := [][]string{}
	if !packaged {
		commands = append(commands, []string{"systemd-sysusers", o.users()}, []string{systemctl, "daemon-reload"})
	}
	if o.Start {
		commands = append(commands, []string{systemctl, "enable", o.Service.Unit}, []string{systemctl, "restart", o.Service.Unit})
	}
	for _, c := range commands {
		if _, err := fmt.Fprintf(w, "$ %s\n", strings.Join(c, " ")); err != nil {
			return err
		}
	}
	return nil
}
