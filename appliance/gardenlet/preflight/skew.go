// SPDX-License-Identifier: Apache-2.0

package preflight

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/version"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"sigs.k8s.io/yaml"
)

const (
	infoNamespace = "gardener-system-public"
	infoName      = "gardener-info"
	infoKey       = "gardenerAPIServer"

	// maxMinorsBehind is how many minor versions a gardenlet may be behind its garden.
	maxMinorsBehind = 2
)

// ErrSkew says that the version skew between gardenlet and garden is not supported.
var ErrSkew = errors.New("version skew between gardenlet and garden is not supported")

// CheckVersion returns an error if the garden does not support the version of this gardenlet (GLET-BOOT-9). level is the
// version of the Gardener API that the gardenlet implements.
func CheckVersion(ctx context.Context, configMaps corev1client.ConfigMapsGetter, level string) error {
	info, err := configMaps.ConfigMaps(infoNamespace).Get(ctx, infoName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return fmt.Errorf("%w: ConfigMap %q is missing in the garden, so its version is not known", ErrSkew, infoNamespace+"/"+infoName)
	}
	if err != nil {
		return fmt.Errorf("get ConfigMap %q: %w", infoNamespace+"/"+infoName, err)
	}
	var served struct {
		Version string `json:"version"`
	}
	if err := yaml.Unmarshal([]byte(info.Data[infoKey]), &served); err != nil {
		return fmt.Errorf("read key %q of ConfigMap %q: %w", infoKey, infoNamespace+"/"+infoName, err)
	}
	return CompareVersions(level, served.Version)
}

// CompareVersions returns an error if the gardenlet is newer than the garden, or more than two minor versions older.
func CompareVersions(gardenlet, garden string) error {
	own, err := version.ParseGeneric(gardenlet)
	if err != nil {
		return fmt.Errorf("parse version %q of the gardenlet: %w", gardenlet, err)
	}
	served, err := version.ParseGeneric(garden)
	if err != nil {
		return fmt.Errorf("parse version %q of the garden: %w", garden, err)
	}
	switch {
	case served.LessThan(own):
		return fmt.Errorf("%w: the gardenlet (%s) is newer than the garden (%s): upgrade the garden first", ErrSkew, gardenlet, garden)
	case own.Major() != served.Major(), served.Minor()-own.Minor() > maxMinorsBehind:
		return fmt.Errorf("%w: the gardenlet (%s) is more than %d minor versions older than the garden (%s): upgrade the gardenlet", ErrSkew, gardenlet, maxMinorsBehind, garden)
	default:
		return nil
	}
}
