// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"net/url"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/terrarium-garden/terrarium/apis/check"
	gardenoperatorv1alpha1 "github.com/terrarium-garden/terrarium/apis/operator/v1alpha1"
)

// dashboard checks the garden's web interface (OPER-WH-16).
func dashboard(v *gardenoperatorv1alpha1.VirtualCluster, path *field.Path) field.ErrorList {
	d, kube := v.Gardener.Dashboard, v.Kubernetes.KubeAPIServer
	var errs field.ErrorList
	if d.LogLevel != nil {
		errs = append(errs, check.OneOf(*d.LogLevel, path.Child("logLevel"), "trace", "debug", "info", "warn", "error")...)
	}
	if d.OIDC == nil && d.EnableTokenLogin != nil && !*d.EnableTokenLogin {
		errs = append(errs, field.Forbidden(path.Child("enableTokenLogin"), "cannot be disabled without oidcConfig: no user could log in"))
	}
	if d.PropagateCAFromSNI != nil && *d.PropagateCAFromSNI && (kube == nil || kube.SNI == nil) {
		errs = append(errs, field.Forbidden(path.Child("propagateCAFromSNI"), "requires spec.virtualCluster.kubernetes.kubeAPIServer.sni"))
	}
	if o := d.OIDC; o != nil {
		here := path.Child("oidcConfig")
		if kube == nil || kube.StructuredAuthentication == nil {
			errs = append(errs, field.Forbidden(here, "requires spec.virtualCluster.kubernetes.kubeAPIServer.structuredAuthentication"))
		}
		errs = append(errs, issuer(o.IssuerURL, here.Child("issuerURL"))...)
		if o.ClientIDPublic == nil || *o.ClientIDPublic == "" {
			errs = append(errs, field.Required(here.Child("clientIDPublic"), "must be the client ID that kubectl uses"))
		}
		errs = append(errs, check.Required(o.SecretRef.Name, here.Child("secretRef", "name"), "the Secret with the credentials")...)
	}
	if g := d.GitHub; g != nil {
		here := path.Child("gitHub")
		errs = append(errs, check.Required(g.APIURL, here.Child("apiURL"), "the service")...)
		errs = append(errs, check.Required(g.Organisation, here.Child("organisation"), "who has the repository")...)
		errs = append(errs, check.Required(g.Repository, here.Child("repository"), "the repository")...)
		errs = append(errs, check.Required(g.SecretRef.Name, here.Child("secretRef", "name"), "the Secret with the credentials")...)
	}
	if t := d.Terminal; t != nil {
		errs = append(errs, check.Required(t.Container.Image, path.Child("terminal", "container", "image"), "the image")...)
	}
	return errs
}

func issuer(value *string, path *field.Path) field.ErrorList {
	if value == nil || *value == "" {
		return field.ErrorList{field.Required(path, "must name the issuer")}
	}
	if u, err := url.Parse(*value); err != nil || u.Scheme != "https" || u.Host == "" {
		return field.ErrorList{field.Invalid(path, *value, "must be an https URL")}
	}
	return nil
}
