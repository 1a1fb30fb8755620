// SPDX-License-Identifier: Apache-2.0

package v1beta1

// Users and groups of the garden.
const (
	// GroupSeeds is the group of gardenlets.
	GroupSeeds = "gardener.cloud:system:seeds"
	// UserPrefixSeed starts the user name of a gardenlet, followed by the name of its seed.
	UserPrefixSeed = "gardener.cloud:system:seed:"
	// GroupShoots is the group of gardenlets in shoots with their own control plane.
	GroupShoots = "gardener.cloud:system:shoots"
	// UserPrefixShoot starts the user name of such a gardenlet, followed by namespace and name of the shoot.
	UserPrefixShoot = "gardener.cloud:system:shoot:"
	// UserPrefixGardenadmShoot starts the user name while such a shoot is being connected.
	UserPrefixGardenadmShoot = "gardener.cloud:gardenadm:shoot:"
	// GroupNodeAgents is the group of agents on nodes.
	GroupNodeAgents = "gardener.cloud:node-agents"
	// UserPrefixNodeAgentMachine starts the user name of the agent on a node, followed by the name of its node.
	UserPrefixNodeAgentMachine = "gardener.cloud:node-agent:machine:"
	// GroupPrefixNodeAgentsPool starts the group of the agents on the nodes of a worker pool, followed by the pool's name.
	GroupPrefixNodeAgentsPool = "gardener.cloud:node-agents:pool:"
	// GroupBootstrappers is the group of bootstrap tokens.
	GroupBootstrappers = "system:bootstrappers"
	// UserKubeAggregator is the user of the aggregation layer.
	UserKubeAggregator = "system:kube-aggregator"
	// GroupAuthenticated is the group of all authenticated users.
	GroupAuthenticated = "system:authenticated"
	// GroupMasters is the group that may do everything.
	GroupMasters = "system:masters"
	// ServiceAccountPrefixExtensionShoot starts the names of service accounts for extensions of shoots with their
	// own control plane.
	ServiceAccountPrefixExtensionShoot = "extension-shoot--"
)

// Users and groups of a shoot.
const (
	// UserPrefixShootAdmin starts the user name in certificates for administrators.
	UserPrefixShootAdmin = "gardener.cloud:admin:"
	// UserPrefixShootViewer starts the user name in certificates for viewers.
	UserPrefixShootViewer = "gardener.cloud:viewer:"
	// GroupShootSystemAdmins is the group of operators with all rights.
	GroupShootSystemAdmins = "gardener.cloud:system:admins"
	// GroupShootProjectAdmins is the group of project members with all rights.
	GroupShootProjectAdmins = "gardener.cloud:project:admins"
	// GroupShootSystemViewers is the group of operators who may read.
	GroupShootSystemViewers = "gardener.cloud:system:viewers"
	// GroupShootProjectViewers is the group of project viewers.
	GroupShootProjectViewers = "gardener.cloud:project:viewers"
	// UserClusterAdmin is the fixed administrator of a shoot's API server.
	UserClusterAdmin = "system:cluster-admin"
)

// Roles of project members.
const (
	// ProjectMemberAdmin is the role of members who administrate a project.
	ProjectMemberAdmin = "admin"
	// ProjectMemberOwner is the role of the owner of a project; given by the spec only.
	ProjectMemberOwner = "owner"
	// ProjectMemberUserAccessManager is the role of members who manage members.
	ProjectMemberUserAccessManager = "uam"
	// ProjectMemberServiceAccountManager is the role of members who manage service accounts.
	ProjectMemberServiceAccountManager = "serviceaccountmanager"
	// ProjectMemberViewer is the role of members who may read.
	ProjectMemberViewer = "viewer"
	// ProjectMemberExtensionPrefix starts the names of custom roles.
	ProjectMemberExtensionPrefix = "extension:"
)

// Cluster roles of the garden.
const (
	// ClusterRoleAdmin gives all rights to the garden.
	ClusterRoleAdmin = "gardener.cloud:admin"
	// ClusterRoleAdministrators gathers the rights of administrators.
	ClusterRoleAdministrators = "gardener.cloud:system:administrators"
	// ClusterRoleViewer gives the right to read the garden.
	ClusterRoleViewer = "gardener.cloud:viewer"
	// ClusterRoleViewers gathers the rights of viewers.
	ClusterRoleViewers = "gardener.cloud:system:viewers"
	// ClusterRoleReadGlobalResources lets everyone read what belongs to no project.
	ClusterRoleReadGlobalResources = "gardener.cloud:system:read-global-resources"
	// ClusterRoleUserAuth lets all users query their own identity and permissions.
	ClusterRoleUserAuth = "gardener.cloud:system:user-auth"
	// ClusterRoleProjectCreation gives the right to create projects.
	ClusterRoleProjectCreation = "gardener.cloud:system:project-creation"
	// ClusterRoleProjectMemberAggregation holds the rules of project members.
	ClusterRoleProjectMemberAggregation = "gardener.cloud:system:project-member-aggregation"
	// ClusterRoleProjectMember gathers the rights of members in the namespace of a project.
	ClusterRoleProjectMember = "gardener.cloud:system:project-member"
	// ClusterRoleProjectViewerAggregation holds the rules of project viewers.
	ClusterRoleProjectViewerAggregation = "gardener.cloud:system:project-viewer-aggregation"
	// ClusterRoleProjectViewer gathers the rights of viewers in the namespace of a project.
	ClusterRoleProjectViewer = "gardener.cloud:system:project-viewer"
	// ClusterRoleProjectServiceAccountManagerAggregation holds the rules of managers of service accounts.
	ClusterRoleProjectServiceAccountManagerAggregation = "gardener.cloud:system:project-serviceaccountmanager-aggregation"
	// ClusterRoleProjectServiceAccountManager gathers the rights of managers of service accounts in the namespace of
	// a project.
	ClusterRoleProjectServiceAccountManager = "gardener.cloud:system:project-serviceaccountmanager"
	// ClusterRolePrefixProjectOwner starts the name of the role of a project's owner, followed by the project.
	ClusterRolePrefixProjectOwner = "gardener.cloud:system:project:"
	// ClusterRolePrefixProjectMember starts the name of the role of a project's members, followed by the project.
	ClusterRolePrefixProjectMember = "gardener.cloud:system:project-member:"
	// ClusterRolePrefixProjectUserAccessManager starts the name of the role of those who manage a project's members,
	// followed by the project.
	ClusterRolePrefixProjectUserAccessManager = "gardener.cloud:system:project-uam:"
	// ClusterRolePrefixProjectViewer starts the name of the role of a project's viewers, followed by the project.
	ClusterRolePrefixProjectViewer = "gardener.cloud:system:project-viewer:"
	// ClusterRolePrefixProjectExtension starts the name of a custom role, followed by project and role.
	ClusterRolePrefixProjectExtension = "gardener.cloud:extension:project:"
	// ClusterRoleSeeds holds the rights of gardenlets.
	ClusterRoleSeeds = "gardener.cloud:system:seeds"
	// ClusterRoleSeedBootstrapper lets bootstrap tokens ask for the certificate of a gardenlet.
	ClusterRoleSeedBootstrapper = "gardener.cloud:system:seed-bootstrapper"
	// RoleReadClusterIdentity lets everyone read the identity of the garden.
	RoleReadClusterIdentity = "gardener.cloud:system:read-cluster-identity-configmap"
	// RoleReadPublic lets everyone read the public namespace.
	RoleReadPublic = "gardener.cloud:system:read-gardener-system-public"
)

// Cluster roles of seeds and shoots.
const (
	// ClusterRoleSeedGardenlet holds the rights of a gardenlet in its seed.
	ClusterRoleSeedGardenlet = "gardener.cloud:system:gardenlet"
	// ClusterRoleBindingShootGardener binds the garden's service accounts in a shoot.
	ClusterRoleBindingShootGardener = "gardener.cloud:system:gardener"
	// ClusterRoleShootReadOnly gives the right to read everything in a shoot except its secrets.
	ClusterRoleShootReadOnly = "gardener.cloud:system:read-only"
)

// Verbs that are checked beyond the usual ones.
const (
	// VerbManageMembers permits changing the human members of a project.
	VerbManageMembers = "manage-members"
	// VerbModifyQuotaLabels permits changing the labels of a project by which the garden chooses its quota.
	VerbModifyQuotaLabels = "modify-quota-labels"
	// VerbModifyTolerationsWhitelist permits changing which tolerations a project may use.
	VerbModifyTolerationsWhitelist = "modify-spec-tolerations-whitelist"
	// VerbMarkSelfHosted permits declaring that a shoot hosts its own control plane.
	VerbMarkSelfHosted = "mark-self-hosted"
)
