// SPDX-License-Identifier: Apache-2.0

package images

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// lastWords is how long the output of debootstrap is read after it was ended.
const lastWords = 5 * time.Second

// Rootfs builds the root file system of a worker machine from packages of a distribution.
type Rootfs struct {
	Distribution Distribution
	// Packages are installed in addition to the minimal system.
	Packages []string
	// CacheDir caches the finished file systems by distribution and packages.
	CacheDir string
	// Debootstrap is the program that installs packages into a folder.
	Debootstrap string
	// Progress is called with a message before a long installation.
	Progress func(message string)
}

// Layer returns the root file system as a layer, from the cache if possible.
func (r Rootfs) Layer(ctx context.Context) (v1.Layer, error) {
	file := filepath.Join(r.CacheDir, "rootfs-"+r.key()+".tar")
	if _, err := os.Stat(file); err == nil {
		return OpenLayer(file)
	}
	if err := os.MkdirAll(r.CacheDir, 0o755); err != nil { //nolint:gosec // It contains nothing secret.
		return nil, fmt.Errorf("make cache folder: %w", err)
	}
	dir, err := os.MkdirTemp(r.CacheDir, "rootfs-")
	if err != nil {
		return nil, fmt.Errorf("make folder for root filesystem: %w", err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // Remaining files do no harm.
	r.Progress(fmt.Sprintf("Installing %s with %s from %s", r.Distribution.Suite, strings.Join(r.Packages, ", "), r.Distribution.Mirror))
	if err := r.bootstrap(ctx, dir); err != nil {
		return nil, err
	}
	return writeLayer(file, func(w *tar.Writer) error { return writeTree(w, dir) })
}

// key changes with everything that the content depends on, except for the current packages of the mirror.
func (r Rootfs) key() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q", r.Distribution, r.Packages, runtime.GOARCH))
	return hex.EncodeToString(sum[:8])
}

func (r Rootfs) bootstrap(ctx context.Context, dir string) error {
	args := []string{
		// Without a key ring, debootstrap would accept packages without a signature.
		"--force-check-gpg",
		"--variant=minbase",
		"--components=" + strings.Join(r.Distribution.Components, ","),
		"--include=" + strings.Join(r.Packages, ","),
	}
	if r.Distribution.Keyring != "" {
		args = append(args, "--keyring="+r.Distribution.Keyring)
	}
	args = append(args, r.Distribution.Suite, dir, r.Distribution.Mirror)
	output, err := r.run(ctx, args, true)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EINVAL) { // The latter in a folder that was made the root.
		output, err = r.run(ctx, args, false)
	}
	if err != nil {
		return fmt.Errorf("install root filesystem of the machine image with debootstrap: %w; the last lines of its output:\n%s", err, lastLines(output, 10))
	}
	return nil
}

// run runs debootstrap and returns its output. Its mounts are its own, if this process may keep them apart, and go with its processes; who may
// not do that may not mount either. All of its processes end with ctx: what is left of them would go on to write into a folder that is being
// removed, or into the kernel through a mount there.
func (r Rootfs) run(ctx context.Context, args []string, apart bool) (string, error) {
	command := exec.CommandContext(ctx, r.Debootstrap, args...) //nolint:gosec // The arguments are settings of the caller.
	// Nobody is there to answer questions.
	command.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C")
	var output bytes.Buffer
	command.Stdout, command.Stderr = &output, &output
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if apart {
		command.SysProcAttr.Unshareflags = syscall.CLONE_NEWNS
	}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	command.WaitDelay = lastWords
	err := command.Run()
	return output.String(), err
}

func lastLines(text string, count int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-count):], "\n")
}

// leftOut reports whether a machine does not need a file or the file differs each time: caches, package lists, documents,
// logs, and what the kernel provides at run time.
func leftOut(path string) bool {
	for _, folder := range []string{
		"dev", "proc", "sys", "run", "tmp", "debootstrap", "usr/share/doc", "usr/share/man", "usr/share/locale", "usr/share/info",
		"usr/share/lintian", "var/cache", "var/lib/apt/lists", "var/log", "var/tmp", "usr/share/bug",
	} {
		if strings.HasPrefix(path, folder+"/") {
			return true
		}
	}
	// Keys in an image would be those of all machines.
	if strings.HasPrefix(path, "etc/ssh/ssh_host_") {
		return true
	}
	switch path {
	case "etc/machine-id", "etc/hostname", "etc/resolv.conf", "var/lib/systemd/random-seed", "var/lib/dpkg/status-old":
		return true
	default:
		return false
	}
}

// writeTree writes a folder with owners, modes and hard links, but without times.
func writeTree(w *tar.Writer, root string) error {
	type inode struct{ device, number uint64 }
	written := map[inode]string{}
	return filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("walk root filesystem: %w", err)
		}
		relative, err := filepath.Rel(root, path)
		if err != nil {
			return fmt.Errorf("walk root filesystem: %w", err)
		}
		if relative == "." || leftOut(relative) {
			return nil
		}
		info, err := os.Lstat(path)
		if err != nil {
			return fmt.Errorf("walk root filesystem: %w", err)
		}
		if info.Mode().Type()&(fs.ModeSocket|fs.ModeDevice|fs.ModeNamedPipe) != 0 {
			return nil
		}
		header, err := treeHeader(path, relative, info)
		if err != nil {
			return err
		}
		system, ok := info.Sys().(*syscall.Stat_t)
		if !ok {
			return fmt.Errorf("owner of %q: %w", relative, errors.ErrUnsupported)
		}
		header.Uid, header.Gid = int(system.Uid), int(system.Gid)
		if info.Mode().IsRegular() && system.Nlink > 1 {
			key := inode{device: system.Dev, number: system.Ino}
			if first, again := written[key]; again {
				header.Typeflag, header.Linkname, header.Size = tar.TypeLink, first, 0
				return w.WriteHeader(header)
			}
			written[key] = relative
		}
		if info.Mode().IsRegular() {
			return writeFile(w, header, path)
		}
		return w.WriteHeader(header)
	})
}

func treeHeader(path, relative string, info fs.FileInfo) (*tar.Header, error) {
	target := ""
	if info.Mode()&fs.ModeSymlink != 0 {
		link, err := os.Readlink(path)
		if err != nil {
			return nil, fmt.Errorf("read link %q: %w", relative, err)
		}
		target = link
	}
	header, err := tar.FileInfoHeader(info, target)
	if err != nil {
		return nil, fmt.Errorf("describe %q: %w", relative, err)
	}
	name := relative
	if info.IsDir() {
		name += "/"
	}
	header.Name, header.ModTime, header.Format = name, noTime(), tar.FormatPAX
	header.AccessTime, header.ChangeTime = time.Time{}, time.Time{}
	header.Uname, header.Gname = "", ""
	return header, nil
}
