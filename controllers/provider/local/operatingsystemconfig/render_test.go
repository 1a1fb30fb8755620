// SPDX-License-Identifier: Apache-2.0

package operatingsystemconfig_test

import (
	"encoding/base64"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/operatingsystemconfig"
	"github.com/terrarium-garden/terrarium/tests/golden"
)

type (
	spec = gardenextensionsv1alpha1.OperatingSystemConfigSpec
	file = gardenextensionsv1alpha1.File
	unit = gardenextensionsv1alpha1.Unit
)

func inline(data string) gardenextensionsv1alpha1.FileContent {
	return gardenextensionsv1alpha1.FileContent{Inline: &gardenextensionsv1alpha1.FileContentInline{Data: data}}
}

func plain(data string) gardenextensionsv1alpha1.FileContent {
	content := inline(data)
	content.TransmitUnencoded = new(true)
	return content
}

func encoded(data string) gardenextensionsv1alpha1.FileContent {
	return gardenextensionsv1alpha1.FileContent{Inline: &gardenextensionsv1alpha1.FileContentInline{Encoding: "b64", Data: data}}
}

func fromSecret(name, key string) gardenextensionsv1alpha1.FileContent {
	return gardenextensionsv1alpha1.FileContent{SecretRef: &gardenextensionsv1alpha1.FileContentSecretRef{Name: name, DataKey: key}}
}

func fromImage(image, path string) gardenextensionsv1alpha1.FileContent {
	return gardenextensionsv1alpha1.FileContent{ImageRef: &gardenextensionsv1alpha1.FileContentImageRef{Image: image, FilePathInImage: path}}
}

func both(content, other gardenextensionsv1alpha1.FileContent) gardenextensionsv1alpha1.FileContent {
	content.Inline, content.SecretRef = other.Inline, other.SecretRef
	return content
}

var errNoSecret = errors.New("no such secret")

func secrets(ref gardenextensionsv1alpha1.FileContentSecretRef) ([]byte, error) {
	if ref.Name != "certificates" {
		return nil, errNoSecret
	}
	return []byte("content of " + ref.DataKey + "\n"), nil
}

const kubelet = `[Unit]
Description=kubelet
# A comment
[Service]
EnvironmentFile=-/etc/default/kubelet
Environment="A=1 2" B=3
ExecStartPre=-/bin/mkdir /x
ExecStart=/usr/local/bin/kubelet \
  --config=/var/lib/kubelet/config/kubelet
Restart=always
[Install]
WantedBy=multi-user.target
`

func TestRenderGolden(t *testing.T) {
	t.Parallel()
	got, err := operatingsystemconfig.Render(&spec{
		Files: []file{
			{Path: "/opt/bin/tool", Permissions: new(uint32(0o4755)), Content: fromImage("registry.example.org/tools:v1", "/usr/bin/tool")},
			{Path: "/var/lib/kubelet/ca.crt", Content: fromSecret("certificates", "ca.crt")},
			{Path: "/opt/only-there", HostName: new("machine-a"), Content: fromImage("tools@sha256:"+strings.Repeat("0", 64), "o'neill")},
			{Path: "/var/lib/kubelet/kubeconfig-bootstrap", Permissions: new(uint32(0o600)), Content: plain("token: <<BOOTSTRAP_TOKEN>>\nuser: o'neill\n")},
			{Path: "/etc/only-there", HostName: new("machine-a"), Content: encoded(base64.StdEncoding.EncodeToString([]byte("there\n")))},
		},
		Units: []unit{
			{Name: "containerd.service", Command: new(gardenextensionsv1alpha1.UnitCommandStart), Content: new("[Service]\nExecStart=/usr/bin/containerd\n")},
			{Name: "kubelet.service", Content: new(kubelet), DropIns: []gardenextensionsv1alpha1.DropIn{
				{Name: "10-more.conf", Content: "[Service]\nEnvironment=C=4\n"},
			}},
			{Name: "sysctl.service", Content: new("[Service]\nType=oneshot\nExecStart=/bin/true\nExecStart=/bin/echo done\n")},
			{Name: "off.service", Enable: new(false), Content: new("[Service]\nExecStart=/bin/off\n")},
			{Name: "daily.timer", Content: new("[Timer]\nOnCalendar=daily\n")},
		},
	}, secrets)
	if err != nil {
		t.Fatal(err)
	}
	golden.Text(t, "user-data.sh", got)
}

// TestUnitScripts decodes what a machine would run.
func TestUnitScripts(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		unit   unit
		want   string
	}{
		"Kubelet": {
			reason: "the kubelet gets the flags that only the machine knows, the environment comes before",
			unit:   unit{Name: "kubelet.service", Content: new(kubelet)},
			want: `#!/bin/sh
# kubelet.service
set -e
export "A=1 2" B=3
if [ -r '/etc/default/kubelet' ]; then set -a; . '/etc/default/kubelet'; set +a; fi
/bin/mkdir /x || true
exec /usr/local/bin/kubelet \
  --config=/var/lib/kubelet/config/kubelet $KUBELET_EXTRA_ARGS
`,
		},
		"OwnExtraArgs": {
			reason: "flags that are named already are not given twice",
			unit:   unit{Name: "kubelet.service", Content: new("[Service]\nExecStart=/k ${KUBELET_EXTRA_ARGS} --last\n")},
			want:   "#!/bin/sh\n# kubelet.service\nset -e\nexec /k ${KUBELET_EXTRA_ARGS} --last\n",
		},
		"DropInReplaces": {
			reason: "an empty assignment in a drop-in drops what was there, as in systemd",
			unit: unit{Name: "a.service", Content: new("[Service]\nEnvironment=A=1\nExecStart=/old\n"), DropIns: []gardenextensionsv1alpha1.DropIn{
				{Name: "x.conf", Content: "[Service]\nEnvironment=\nExecStart=\nExecStart=/new\n"},
			}},
			want: "#!/bin/sh\n# a.service\nset -e\nexec /new\n",
		},
		"RequiredEnvironmentFile": {
			reason: "without a dash the file has to be there",
			unit:   unit{Name: "a.service", Content: new("[Service]\nEnvironmentFile=/e\nExecStart=/a\n")},
			want:   "#!/bin/sh\n# a.service\nset -e\nset -a; . '/e'; set +a\nexec /a\n",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := operatingsystemconfig.Render(&spec{Units: []unit{tc.unit}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, written(t, got, "/etc/machine/units/"+tc.unit.Name+".sh")); diff != "" {
				t.Errorf("%s\nscript (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// written decodes the file of that name in the user data.
func written(t *testing.T, userData, name string) string {
	t.Helper()
	_, after, found := strings.Cut(userData, "write '"+name+"' 0755\n")
	if !found {
		t.Fatalf("user data does not write %q:\n%s", name, userData)
	}
	text, _, _ := strings.Cut(after, "END\n")
	data, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(text, "\n", ""))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestRun runs user data: every byte and every mode has to arrive.
func TestRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	hard := "a 'quote', a $VARIABLE, a `command`, a \\ and\nno newline at the end"
	long := strings.Repeat("0123456789", 1000)
	script, err := operatingsystemconfig.Render(&spec{Files: []file{
		{Path: dir + "/deep/folder/plain", Permissions: new(uint32(0o600)), Content: plain(hard)},
		{Path: dir + "/encoded", Permissions: new(uint32(0o755)), Content: inline(hard)},
		{Path: dir + "/special", Permissions: new(uint32(0o6750)), Content: inline("x")},
		{Path: dir + "/long", Content: inline(long)},
		{Path: dir + "/o'neill's file", Content: inline("x")},
		{Path: dir + "/mine", HostName: new("me"), Content: inline("mine")},
		{Path: dir + "/others", HostName: new("other"), Content: inline("others")},
		{Path: dir + "/empty", Content: inline("")},
	}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // A machine runs it at every start.
		command := exec.CommandContext(t.Context(), "sh", "-s")
		command.Stdin = strings.NewReader(script)
		command.Env = append(os.Environ(), "MACHINE_NAME=me")
		if output, err := command.CombinedOutput(); err != nil {
			t.Fatalf("run user data: %v\n%s\n%s", err, output, script)
		}
	}
	type entry struct {
		Mode    os.FileMode
		Content string
	}
	got := map[string]entry{}
	err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		got[strings.TrimPrefix(path, dir+"/")] = entry{Mode: info.Mode(), Content: string(data)}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]entry{
		"deep/folder/plain": {0o600, hard}, "encoded": {0o755, hard}, "long": {0o644, long}, "o'neill's file": {0o644, "x"},
		"special": {0o750, "x"}, "mine": {0o644, "mine"}, "empty": {0o644, ""},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func TestRenderRefuses(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		spec   spec
		want   string
	}{
		"Relative":    {reason: "a relative path has no meaning on a machine", spec: spec{Files: []file{{Path: "x", Content: inline("")}}}, want: `file "x": the path is not absolute`},
		"NoContent":   {reason: "a file without content is a mistake", spec: spec{Files: []file{{Path: "/x"}}}, want: `file "/x": it has no content`},
		"Image":       {reason: "an image has a name", spec: spec{Files: []file{{Path: "/x", Content: fromImage("", "/tool")}}}, want: `file "/x": the image ""`},
		"ImageFolder": {reason: "a folder is no content", spec: spec{Files: []file{{Path: "/x", Content: fromImage("tools:v1", "/usr/")}}}, want: `file "/x": the path "/usr/" in the image "tools:v1"`},
		"ImageToo":    {reason: "content comes from one place", spec: spec{Files: []file{{Path: "/x", Content: both(fromImage("tools:v1", "/tool"), inline("x"))}}}, want: `file "/x": it has content from an image and other content`},
		"ImageSecret": {reason: "also beside a Secret", spec: spec{Files: []file{{Path: "/x", Content: both(fromImage("tools:v1", "/tool"), fromSecret("a", "b"))}}}, want: `file "/x": it has content from an image and other content`},
		"ImagePath":   {reason: "a relative path has no meaning with an image either", spec: spec{Files: []file{{Path: "x", Content: fromImage("tools:v1", "/tool")}}}, want: `file "x": the path is not absolute`},
		"Encoding":    {reason: "an unknown encoding is named", spec: spec{Files: []file{{Path: "/x", Content: gardenextensionsv1alpha1.FileContent{Inline: &gardenextensionsv1alpha1.FileContentInline{Encoding: "gzip"}}}}}, want: `the encoding "gzip" is not known`},
		"BrokenB64":   {reason: "broken base64 is found here, not on the machine", spec: spec{Files: []file{{Path: "/x", Content: encoded("%")}}}, want: `file "/x": decode content`},
		"Secret":      {reason: "a missing secret is named", spec: spec{Files: []file{{Path: "/x", Content: fromSecret("other", "k")}}}, want: `file "/x": no such secret`},
		"UnitName":    {reason: "a unit cannot leave its folder", spec: spec{Units: []unit{{Name: "../x.service"}}}, want: `unit "../x.service"`},
		"NoExecStart": {reason: "a service without a command cannot run", spec: spec{Units: []unit{{Name: "a.service", Content: new("[Service]\n")}}}, want: "it has 0 ExecStart lines, not one"},
		"TwoCommands": {reason: "only oneshot services have several commands", spec: spec{Units: []unit{{Name: "a.service", Content: new("[Service]\nExecStart=/a\nExecStart=/b\n")}}}, want: "it has 2 ExecStart lines, not one"},
		"BrokenUnit":  {reason: "an unreadable unit is named", spec: spec{Units: []unit{{Name: "a.service", Content: new("[Service\n")}}}, want: `read unit "a.service"`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := operatingsystemconfig.Render(&tc.spec, secrets)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s\nRender(...) = %v, want an error with %q", tc.reason, err, tc.want)
			}
		})
	}
}
