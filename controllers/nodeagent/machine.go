// SPDX-License-Identifier: Apache-2.0

package nodeagent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-logr/logr"

	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/nodeagent/imagefile"
)

// unitTimeout is how long one unit may take to start or to stop. A unit that hangs must not keep the others, and the next configuration, waiting.
const unitTimeout = 5 * time.Minute

// Machine is the machine that the agent runs on.
type Machine struct {
	// Root is the root of its file system.
	Root string
	// HostName is its name, which files may be meant for.
	HostName string
	// StateDir is the folder in which the agent remembers what it applied.
	StateDir string
	// Units runs its units.
	Units Units
	// Images has the files that come from images.
	Images imagefile.Source
}

func (m *Machine) at(path string) string { return filepath.Join(m.Root, path) }

// plan is the difference between a machine and its configuration.
type plan struct {
	before, wanted state
	changed        []File
	removed        []string
	// units are those of the configuration by name, stopped are the names of those that go.
	units   map[string]*gardenextensionsv1alpha1.Unit
	stopped []string
	// missing are the files of images that could not be fetched, reason says why.
	missing []string
	reason  error
	// failed are the units that could not be restarted before the files of images were fetched.
	failed map[string]error
}

// Settled reports whether a machine is as the configuration says.
func (m *Machine) Settled(c Configuration) (bool, error) {
	p, err := m.plan(c)
	return err == nil && p.settled(), err
}

// Unfinished reports whether a change was begun and units still have to be restarted or stopped for it.
func (m *Machine) Unfinished() (bool, error) {
	before, err := m.load()
	return len(before.Unsettled) > 0, err
}

func (p *plan) settled() bool { return len(p.changed)+len(p.removed)+len(p.wanted.Unsettled) == 0 }

// Apply makes the machine as the configuration says. It compares with the machine and not with what it did before, so that it also repairs
// what others changed. On an error some of it may be applied; the next call goes on (GLET-CARE-13).
func (m *Machine) Apply(ctx context.Context, c Configuration) error {
	p, err := m.plan(c)
	if err != nil {
		return err
	}
	if err := m.sweep(p); err != nil {
		return err
	}
	if p.settled() {
		if p.before.equal(p.wanted) {
			return nil
		}
		return m.save(p.wanted)
	}
	// From here on an interruption must not make the machine forget what it still has to do.
	pending := p.wanted
	pending.Files, pending.Units = union(p.before.Files, p.wanted.Files), union(p.before.Units, p.wanted.Units)
	if err := m.save(pending); err != nil {
		return err
	}
	if err := m.transfer(ctx, p); err != nil {
		return err
	}
	return m.settle(ctx, p, pending)
}

// sweep removes what an interrupted change has left of files, also of those that are not written again.
func (m *Machine) sweep(p *plan) error {
	for _, path := range union(p.before.Files, p.wanted.Files) {
		if err := discard(m.at(path)); err != nil {
			return err
		}
	}
	return nil
}

func (m *Machine) plan(c Configuration) (*plan, error) {
	before, err := m.load()
	if err != nil {
		return nil, err
	}
	files, err := filesOf(c, m.HostName)
	if err != nil {
		return nil, err
	}
	p := &plan{
		before: before, wanted: state{Runs: map[string]string{}}, units: map[string]*gardenextensionsv1alpha1.Unit{}, failed: map[string]error{},
	}
	owned := map[string][]string{}
	for i := range c.Units {
		unit := &c.Units[i]
		own, err := m.Units.Files(unit)
		if err != nil {
			return nil, err
		}
		p.units[unit.Name], p.wanted.Runs[unit.Name] = unit, runOf(unit)
		for _, file := range own {
			owned[unit.Name] = append(owned[unit.Name], file.Path)
		}
		files = append(files, own...)
		if unit.Content != nil {
			p.wanted.Units = append(p.wanted.Units, unit.Name)
		}
	}
	if err := claimedOnce(files); err != nil {
		return nil, err
	}
	if err := m.compare(p, files); err != nil {
		return nil, err
	}
	m.concern(p, c.Units, owned)
	return p, nil
}

// concern finds the units that a change concerns: those whose own files or whose filePaths differ, and those that are to run or to rest from
// now on. All others are left alone.
func (m *Machine) concern(p *plan, units []gardenextensionsv1alpha1.Unit, owned map[string][]string) {
	touched := slices.Clone(p.removed)
	for _, file := range p.changed {
		touched = append(touched, file.Path)
	}
	for i := range units {
		unit := &units[i]
		concerned := slices.ContainsFunc(touched, func(path string) bool {
			return slices.Contains(unit.FilePaths, path) || slices.Contains(owned[unit.Name], path) || dropIn(path, unit.Name)
		})
		if concerned || p.turned(unit.Name) || slices.Contains(p.before.Unsettled, unit.Name) {
			p.wanted.Unsettled = append(p.wanted.Unsettled, unit.Name)
		}
	}
	for _, name := range p.before.Units {
		if p.units[name] == nil {
			p.stopped = append(p.stopped, name)
		}
	}
	p.wanted.Unsettled = append(p.wanted.Unsettled, p.stopped...)
}

// turned reports whether a unit is enabled, disabled, started or stopped now and was not before. Nothing of that is in its files. What an agent of
// an earlier version has done is not known, and taken for right.
func (p *plan) turned(unit string) bool {
	if p.before.Runs == nil {
		return false
	}
	return p.before.Runs[unit] != p.wanted.Runs[unit]
}

// dropIn reports whether a file that goes was a drop-in of the unit.
func dropIn(path, unit string) bool { return filepath.Base(filepath.Dir(path)) == unit+".d" }

// transfer changes the files. Units that go are stopped while their files are there.
func (m *Machine) transfer(ctx context.Context, p *plan) error {
	log := logr.FromContextOrDiscard(ctx)
	for _, name := range p.stopped {
		if err := m.stop(ctx, name); err != nil {
			return fmt.Errorf("stop unit %q: %w", name, err)
		}
		log.Info("Unit stopped, which is not part of the configuration any more", "unit", name)
	}
	inTheWay, removed := p.inTheWay()
	if err := m.remove(ctx, inTheWay); err != nil {
		return err
	}
	for _, file := range p.changed {
		if file.From != nil {
			continue
		}
		if err := write(m.at(file.Path), file.Mode, file.Data); err != nil {
			return err
		}
		log.Info("File written", "path", file.Path)
	}
	if err := m.remove(ctx, removed); err != nil {
		return err
	}
	if err := m.reload(ctx); err != nil || !m.fetchAll(ctx, p) {
		return err
	}
	return m.reload(ctx)
}

func (m *Machine) reload(ctx context.Context) error {
	if err := m.Units.Reload(ctx); err != nil {
		return fmt.Errorf("reload units: %w", err)
	}
	return nil
}

// inTheWay are the files to remove in whose place there will be a folder. The others are removed when the new ones are there.
func (p *plan) inTheWay() (first, others []string) {
	for _, path := range p.removed {
		if slices.ContainsFunc(p.changed, func(f File) bool { return strings.HasPrefix(f.Path, path+"/") }) {
			first = append(first, path)
			continue
		}
		others = append(others, path)
	}
	return first, others
}

func (m *Machine) remove(ctx context.Context, paths []string) error {
	for _, path := range paths {
		if err := os.Remove(m.at(path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove file: %w", err)
		}
		logr.FromContextOrDiscard(ctx).Info("File removed", "path", path)
	}
	return nil
}

// settle restarts the units, the agent itself last, and forgets what has been done. The machine is as it should be before the agent ends.
func (m *Machine) settle(ctx context.Context, p *plan, pending state) error {
	log := logr.FromContextOrDiscard(ctx)
	var errs []error
	var left []string
	for _, name := range p.wanted.Unsettled {
		unit := p.units[name]
		if unit == nil || name == Unit {
			continue
		}
		if p.awaits(unit) {
			left = append(left, name)
			continue
		}
		err := p.failed[name]
		if err == nil {
			err = m.restart(ctx, unit)
		}
		if err != nil {
			errs, left = append(errs, fmt.Errorf("restart unit %q: %w", name, err)), append(left, name)
			continue
		}
		log.Info("Unit restarted", "unit", name)
	}
	if p.reason != nil {
		errs = append(errs, p.reason)
	}
	if len(errs) > 0 {
		pending.Unsettled = left
		if slices.Contains(p.wanted.Unsettled, Unit) {
			pending.Unsettled = append(pending.Unsettled, Unit)
		}
		return errors.Join(append(errs, m.save(pending))...)
	}
	done := p.wanted
	done.Unsettled = nil
	if err := m.save(done); err != nil {
		return err
	}
	if own := p.units[Unit]; own != nil && slices.Contains(p.wanted.Unsettled, Unit) {
		log.Info("The agent restarts itself")
		return m.restartItself(ctx, own, done)
	}
	return nil
}

// restartItself notes a restart of the agent that has failed, so that it is tried again. If ctx is done, the agent ends, and the next one runs
// with its files as they are now: it would restart itself for ever if that were noted.
func (m *Machine) restartItself(ctx context.Context, own *gardenextensionsv1alpha1.Unit, done state) error {
	err := m.restart(ctx, own)
	if err == nil || ctx.Err() != nil {
		return err
	}
	done.Unsettled = []string{Unit}
	return errors.Join(fmt.Errorf("restart unit %q: %w", Unit, err), m.save(done))
}

func (m *Machine) restart(ctx context.Context, unit *gardenextensionsv1alpha1.Unit) error {
	ctx, end := context.WithTimeout(ctx, unitTimeout)
	defer end()
	return m.Units.Restart(ctx, unit)
}

func (m *Machine) stop(ctx context.Context, name string) error {
	ctx, end := context.WithTimeout(ctx, unitTimeout)
	defer end()
	return m.Units.Stop(ctx, name)
}

func union(a, b []string) []string {
	all := slices.Clone(a)
	for _, one := range b {
		if !slices.Contains(all, one) {
			all = append(all, one)
		}
	}
	return all
}
