// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// BucketConfiguration says which bucket of an S3-compatible object store is used, and how it is reached.
type BucketConfiguration struct {
	// Endpoint is the URL of the object store, such as https://s3.eu-central-1.amazonaws.com.
	Endpoint string `json:"endpoint"`
	// Bucket is the name of the bucket, which must exist.
	Bucket string `json:"bucket"`
	// Prefix precedes the names in the bucket. Gardens that share a bucket need different ones.
	// +optional
	Prefix string `json:"prefix,omitempty"`
	// Region is that of the bucket. The object store is asked for it when it is empty.
	// +optional
	Region string `json:"region,omitempty"`
	// CredentialsFile is a credentials file of the AWS tools, of which the profile default is used. It can be replaced while the server
	// runs. Defaults to the environment variables AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN.
	// +optional
	CredentialsFile string `json:"credentialsFile,omitempty"`
	// CAFile is a bundle of the authorities that have signed the certificate of the object store. Defaults to those of the system.
	// +optional
	CAFile string `json:"caFile,omitempty"`
	// PathStyle puts the name of the bucket into the path of URLs, false into their host name. Defaults to what is usual for the endpoint.
	// +optional
	PathStyle *bool `json:"pathStyle,omitempty"`
}
