// Made by scripts/console-types.ts from the API's description: change that, not this.

/** Method, path, and who may call it, as `x-svc-access` says. */
export const ROUTES = {
  activatePolicy: ["POST", "/v1/policies/{name}/activate", "write:policies / member"],
  addMember: ["POST", "/v1/orgs/{org}/members", "write:org / admin"],
  cancelCall: ["POST", "/v1/generation/{id}/cancel", "inference / admin"],
  cancelErasure: ["DELETE", "/v1/orgs/{org}/erasure", "no key / owner"],
  cancelMandate: ["DELETE", "/v1/credits/mandates", "write:billing / billing"],
  changeSubscription: ["POST", "/v1/billing/subscription", "write:billing / billing"],
  closeOrg: ["POST", "/v1/orgs/{org}/close", "no key / owner"],
  correctInvoice: ["POST", "/v1/invoices/{id}/correction", "write:billing / billing"],
  createAnalyticsUser: ["POST", "/v1/analytics/users", "no key / admin"],
  createApp: ["POST", "/v1/apps", "write:org / admin"],
  createKey: ["POST", "/v1/keys", "write:keys / member"],
  createMandate: ["POST", "/v1/credits/mandates", "write:billing / billing"],
  createOrg: ["POST", "/v1/orgs", "no key / signed in"],
  createPlaygroundKey: ["POST", "/v1/playground/key", "no key / member"],
  createPolicy: ["POST", "/v1/policies", "write:policies / member"],
  createPolicyVersion: ["POST", "/v1/policies/{name}/versions", "write:policies / member"],
  createProject: ["POST", "/v1/projects", "write:org / admin"],
  createProviderKey: ["POST", "/v1/provider-keys", "write:keys / admin"],
  createScimToken: ["POST", "/v1/org/scim/token", "no key / admin"],
  createTicket: ["POST", "/v1/tickets", "write:org / everyone"],
  createTopup: ["POST", "/v1/credits/topups", "write:billing / billing"],
  createWebhook: ["POST", "/v1/webhooks", "write:org / admin"],
  deactivatePolicy: ["POST", "/v1/policies/{name}/deactivate", "write:policies / member"],
  deleteAnalyticsUser: ["DELETE", "/v1/analytics/users/{id}", "no key / admin"],
  deleteApp: ["DELETE", "/v1/apps/{slug}", "write:org / admin"],
  deleteProject: ["DELETE", "/v1/projects/{id}", "write:org / admin"],
  deleteProviderKey: ["DELETE", "/v1/provider-keys/{id}", "write:keys / admin"],
  deleteWebhook: ["DELETE", "/v1/webhooks/{id}", "write:org / admin"],
  downloadExport: ["GET", "/v1/orgs/{org}/exports/{id}/download", "no key / owner"],
  dryRun: ["POST", "/v1/svc/dry_run", "inference / member"],
  dryRunPolicy: ["POST", "/v1/policies/{name}/dry-run", "read:policies / viewer"],
  endSession: ["DELETE", "/auth/sessions/{id}", "no key / signed in"],
  exportInvoices: ["GET", "/v1/invoices/export", "read:billing / billing"],
  exportOrg: ["POST", "/v1/orgs/{org}/export", "no key / owner"],
  getApp: ["GET", "/v1/apps/{slug}", "read:org / viewer"],
  getAttention: ["GET", "/v1/attention", "key / everyone"],
  getAutoTopup: ["GET", "/v1/credits/auto-topup", "read:billing / billing"],
  getBudgets: ["GET", "/v1/usage/budgets", "read:usage / viewer"],
  getCredits: ["GET", "/v1/credits", "read:billing / everyone"],
  getDelivery: ["GET", "/v1/webhooks/{id}/deliveries/{delivery}", "read:org / admin"],
  getDpa: ["GET", "/v1/documents/dpa", "anyone"],
  getEvent: ["GET", "/v1/events/{id}", "read:org / viewer"],
  getInvoice: ["GET", "/v1/invoices/{id}", "read:billing / billing"],
  getInvoiceDocument: ["GET", "/v1/invoices/{id}/document", "read:billing / billing"],
  getInvoiceHtml: ["GET", "/v1/invoices/{id}/html", "read:billing / billing"],
  getInvoicePdf: ["GET", "/v1/invoices/{id}/pdf", "read:billing / billing"],
  getKey: ["GET", "/v1/keys/{id}", "read:keys / viewer"],
  getLimits: ["GET", "/v1/limits", "read:keys / viewer"],
  getMe: ["GET", "/auth/me", "no key / signed in"],
  getModel: ["GET", "/v1/models/{vendor}/{model}", "key / everyone"],
  getModelEndpoints: ["GET", "/v1/models/{vendor}/{model}/endpoints", "key / everyone"],
  getModelStats: ["GET", "/v1/models/{vendor}/{model}/stats", "key / everyone"],
  getPolicyVersion: ["GET", "/v1/policies/{name}/versions/{version}", "read:policies / viewer"],
  getPricing: ["GET", "/v1/pricing", "public"],
  getProject: ["GET", "/v1/projects/{id}", "read:org / viewer"],
  getReceipt: ["GET", "/v1/generation/{id}/receipt", "read:usage / viewer"],
  getReceiptKeys: ["GET", "/.well-known/jwks.json", "public"],
  getRequest: ["GET", "/v1/requests/{id}", "read:usage / viewer"],
  getScimToken: ["GET", "/v1/org/scim/token", "no key / admin"],
  getSubscription: ["GET", "/v1/billing/subscription", "read:billing / billing"],
  getTicket: ["GET", "/v1/tickets/{id}", "read:org / everyone"],
  getTopup: ["GET", "/v1/credits/topups/{id}", "read:billing / billing"],
  getUsage: ["GET", "/v1/usage", "read:usage / viewer"],
  getWebhook: ["GET", "/v1/webhooks/{id}", "read:org / admin"],
  inviteAgain: ["POST", "/v1/orgs/{org}/members/{user}/invitation", "write:org / admin"],
  listAnalyticsUsers: ["GET", "/v1/analytics/users", "no key / admin"],
  listApps: ["GET", "/v1/apps", "read:org / viewer"],
  listAudit: ["GET", "/v1/audit", "read:org / admin"],
  listCanaries: ["GET", "/v1/policies/{name}/canaries", "read:policies / viewer"],
  listDeliveries: ["GET", "/v1/webhooks/{id}/deliveries", "read:org / admin"],
  listEvents: ["GET", "/v1/events", "read:org / viewer"],
  listExperiments: ["GET", "/v1/policies/{name}/experiments", "read:policies / viewer"],
  listExports: ["GET", "/v1/orgs/{org}/exports", "no key / owner"],
  listInvitations: ["GET", "/auth/invitations", "no key / signed in"],
  listInvoices: ["GET", "/v1/invoices", "read:billing / billing"],
  listKeys: ["GET", "/v1/keys", "read:keys / viewer"],
  listLedger: ["GET", "/v1/credits/ledger", "read:billing / everyone"],
  listMembers: ["GET", "/v1/orgs/{org}/members", "read:org / viewer"],
  listModels: ["GET", "/v1/models", "key / everyone"],
  listPlans: ["GET", "/v1/plans", "read:billing / billing"],
  listPolicies: ["GET", "/v1/policies", "read:policies / viewer"],
  listPolicyNames: ["GET", "/v1/policy/names", "read:policies / viewer"],
  listPolicyVersions: ["GET", "/v1/policies/{name}/versions", "read:policies / viewer"],
  listProjects: ["GET", "/v1/projects", "read:org / viewer"],
  listProviderKeys: ["GET", "/v1/provider-keys", "read:keys / viewer"],
  listProviders: ["GET", "/v1/providers", "public"],
  listRefunds: ["GET", "/v1/credits/refunds", "read:billing / billing"],
  listRequests: ["GET", "/v1/requests", "read:usage / viewer"],
  listScimLog: ["GET", "/v1/org/scim/log", "read:org / admin"],
  listSessions: ["GET", "/auth/sessions", "no key / signed in"],
  listShadows: ["GET", "/v1/policies/{name}/shadows", "read:policies / viewer"],
  listTickets: ["GET", "/v1/tickets", "read:org / everyone"],
  listTopups: ["GET", "/v1/credits/topups", "read:billing / billing"],
  listWebhooks: ["GET", "/v1/webhooks", "read:org / admin"],
  logout: ["POST", "/auth/logout", "public"],
  operatorAdjust: ["POST", "/v1/operator/orgs/{id}/adjust", "operator"],
  operatorBeginBackup: ["POST", "/v1/operator/backups", "operator"],
  operatorCheckProviderBill: ["POST", "/v1/operator/provider-bills", "operator"],
  operatorClosePayment: ["POST", "/v1/operator/payments/{id}/close", "operator"],
  operatorCreateAnalyticsUser: ["POST", "/v1/operator/analytics/users", "operator"],
  operatorDecideTicket: ["POST", "/v1/operator/tickets/{id}/decide", "operator"],
  operatorDeleteAnalyticsUser: ["DELETE", "/v1/operator/analytics/users/{id}", "operator"],
  operatorDropJob: ["DELETE", "/v1/operator/jobs/{kind}/{key}", "operator"],
  operatorExportInvoices: ["GET", "/v1/operator/invoices/export", "operator"],
  operatorFreezeBackup: ["POST", "/v1/operator/backups/{id}/freeze", "operator"],
  operatorGetAttention: ["GET", "/v1/operator/attention", "operator"],
  operatorGetOrg: ["GET", "/v1/operator/orgs/{id}", "operator"],
  operatorGetProvider: ["GET", "/v1/operator/providers/{id}", "operator"],
  operatorGetReconciliation: ["GET", "/v1/operator/reconciliation", "operator"],
  operatorGetUsage: ["GET", "/v1/operator/usage", "operator"],
  operatorGrant: ["POST", "/v1/operator/orgs/{id}/grant", "operator"],
  operatorListAnalyticsUsers: ["GET", "/v1/operator/analytics/users", "operator"],
  operatorListCells: ["GET", "/v1/operator/cells", "operator"],
  operatorListJobs: ["GET", "/v1/operator/jobs", "operator"],
  operatorListOrgs: ["GET", "/v1/operator/orgs", "operator"],
  operatorListPayments: ["GET", "/v1/operator/payments", "operator"],
  operatorListPlanOrgs: ["GET", "/v1/operator/plans/{id}/orgs", "operator"],
  operatorListPlans: ["GET", "/v1/operator/plans", "operator"],
  operatorListProviders: ["GET", "/v1/operator/providers", "operator"],
  operatorListTickets: ["GET", "/v1/operator/tickets", "operator"],
  operatorListTopups: ["GET", "/v1/operator/orgs/{id}/topups", "operator"],
  operatorListUncharged: ["GET", "/v1/operator/uncharged", "operator"],
  operatorListUnregistered: ["GET", "/v1/operator/invoices", "operator"],
  operatorRecordPayment: ["POST", "/v1/operator/orgs/{id}/payments", "operator"],
  operatorResumeOrg: ["POST", "/v1/operator/orgs/{id}/resume", "operator"],
  operatorRetireCell: ["POST", "/v1/operator/cells/{cell}/retire", "operator"],
  operatorRetryJob: ["POST", "/v1/operator/jobs/{kind}/{key}/retry", "operator"],
  operatorRunReconciliation: ["POST", "/v1/operator/reconciliation", "operator"],
  operatorSumUsage: ["GET", "/v1/operator/usage/sums", "operator"],
  operatorSuspendOrg: ["POST", "/v1/operator/orgs/{id}/suspend", "operator"],
  previewRedaction: ["POST", "/v1/policy/redact/preview", "read:org / viewer"],
  quoteRefund: ["GET", "/v1/credits/topups/{id}/refund/quote", "read:billing / billing"],
  quoteSubscription: ["GET", "/v1/billing/subscription/quote", "read:billing / billing"],
  quoteTopup: ["GET", "/v1/credits/topups/quote", "read:billing / billing"],
  readCallStream: ["GET", "/v1/generation/{id}/stream", "inference / admin"],
  redeliver: ["POST", "/v1/webhooks/{id}/deliveries/{delivery}/redeliver", "write:org / admin"],
  refundTopup: ["POST", "/v1/credits/topups/{id}/refund", "write:billing / billing"],
  removeMember: ["DELETE", "/v1/orgs/{org}/members/{user}", "write:org / everyone"],
  requestErasure: ["POST", "/v1/orgs/{org}/erasure", "no key / owner"],
  requestLimits: ["POST", "/v1/limits/requests", "write:keys / member"],
  resendInvoice: ["POST", "/v1/invoices/{id}/resend", "write:billing / billing"],
  revokeKey: ["DELETE", "/v1/keys/{id}", "write:keys / member"],
  revokeScimToken: ["DELETE", "/v1/org/scim/token", "no key / admin"],
  rotateKey: ["POST", "/v1/keys/{id}/rotate", "write:keys / member"],
  rotateReceiptKey: ["POST", "/v1/operator/receipt-keys/rotate", "operator"],
  rotateWebhook: ["POST", "/v1/webhooks/{id}/rotate", "write:org / admin"],
  setActiveOrg: ["PUT", "/auth/active-org", "no key / signed in"],
  setAutoTopup: ["PUT", "/v1/credits/auto-topup", "write:billing / billing"],
  testWebhook: ["POST", "/v1/webhooks/{id}/test", "write:org / admin"],
  transferOrg: ["POST", "/v1/orgs/{org}/transfer", "no key / owner"],
  updateApp: ["PATCH", "/v1/apps/{slug}", "write:org / admin"],
  updateKey: ["PATCH", "/v1/keys/{id}", "write:keys / member"],
  updateMember: ["PATCH", "/v1/orgs/{org}/members/{user}", "write:org / admin"],
  updateOrg: ["PATCH", "/v1/orgs/{org}", "write:org / admin"],
  updateProject: ["PATCH", "/v1/projects/{id}", "write:org / admin"],
  updateWebhook: ["PATCH", "/v1/webhooks/{id}", "write:org / admin"],
  validatePolicy: ["POST", "/v1/policies/validate", "read:policies / viewer"],
  watchLive: ["GET", "/v1/live", "key / everyone"],
} as const;

/** Changes that people of a closed org may still make. */
export const FOR_CLOSED: readonly string[] = [
  "cancelErasure",
  "closeOrg",
  "createTicket",
  "exportOrg",
  "quoteRefund",
  "refundTopup",
  "removeMember",
  "requestErasure",
  "transferOrg",
];

/** Which levels of access each role opens. */
export const ROLE_OPENS = {
  owner: ["owner", "admin", "member", "billing", "viewer", "everyone"],
  admin: ["admin", "member", "billing", "viewer", "everyone"],
  billing: ["billing", "everyone"],
  member: ["member", "viewer", "everyone"],
  viewer: ["viewer", "everyone"],
} as const;

/** Scopes that each role holds: a person makes and changes keys of these alone. */
export const ROLE_SCOPES = {
  owner: ["inference", "read:usage", "read:catalog", "read:billing", "write:billing", "read:keys", "write:keys", "read:org", "write:org", "read:policies", "write:policies", "read:payloads"],
  admin: ["inference", "read:usage", "read:catalog", "read:billing", "write:billing", "read:keys", "write:keys", "read:org", "write:org", "read:policies", "write:policies", "read:payloads"],
  billing: ["read:billing", "write:billing", "read:org"],
  member: ["inference", "read:usage", "read:catalog", "read:billing", "read:keys", "write:keys", "read:org", "read:policies", "write:policies"],
  viewer: ["read:usage", "read:catalog", "read:billing", "read:keys", "read:org", "read:policies"],
} as const;

export interface Operations {
  activatePolicy: {
    params: {
      name: string;
    };
    query: undefined;
    body: {
      version: number;
      scope?: {
        project_id?: string;
      };
    };
    answer: {
      name: string;
      version: number;
      status: "draft" | "active" | "retired";
      created_at: string;
      created_by: string;
      scopes: readonly ({
        project_id?: string;
      })[];
    };
  };
  addMember: {
    params: {
      org: string;
    };
    query: undefined;
    body: {
      email: string;
      role?: "owner" | "admin" | "billing" | "member" | "viewer";
    };
    answer: {
      org_id: string;
      user_id: string;
      role: "owner" | "admin" | "billing" | "member" | "viewer";
      email: string;
      name?: string;
    };
  };
  cancelCall: {
    params: {
      id: string;
    };
    query: undefined;
    body: undefined;
    answer: {
      id: string;
      cancelled: true;
    };
  };
  cancelErasure: {
    params: {
      org: string;
    };
    query: undefined;
    body: undefined;
    answer: {
      id: string;
      slug: string;
      name: string;
      kind: "personal" | "team" | "enterprise";
      billing_country: string;
      billing_currency: "INR" | "USD";
      legal_name: string;
      gstin: string;
      tax_id: string;
      tax_status: "unregistered" | "gst_registered" | "sez" | "overseas";
      plan_id: string;
      status: "active" | "suspended" | "closed";
      role?: "owner" | "admin" | "billing" | "member" | "viewer";
      billing_email: string;
      billing_address: {
        line1: string;
        city: string;
        state_code: string;
        postal_code: string;
        country: string;
      };
      settings: {
        security: {
          require_2fa: boolean;
          session_hours: number;
          console_ip_allow: readonly (string)[];
          key_default_expiry_days: number;
        };
        timezone: string;
        credits_low_micro?: number;
        budget?: {
          monthly_micro: number;
          hard: boolean;
          spike_alert_pct?: number;
        };
        hold?: "full" | "fit";
      };
      data_policy: {
        logging: "on" | "metadata" | "off";
        retention_days: number;
        zdr: boolean;
        no_train: boolean;
        regions: readonly (string)[];
        redact: {
          presets: readonly (string)[];
          patterns: readonly (string)[];
        };
      };
      created_at: string;
      closed_at?: string;
      erasure_requested_at?: string;
      erasure_due_at?: string;
    };
  };
  cancelMandate: {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: {
      mandate: {
        id: string;
        org_id: string;
        gateway: string;
        method: string;
        mandate_ref: string;
        token_ref: string;
        max_amount_minor: number;
        currency: string;
        status: "pending" | "active" | "paused" | "failed" | "cancelled";
        pause_reason?: "failures" | "declined" | "dispute" | "bank" | "mismatch";
        auto_topup: {
          enabled: boolean;
          threshold_micro: number;
          amount_minor: number;
        };
        notify_hours: number;
        consecutive_failures: number;
        registered_at?: string;
        created_at: string;
        cancelled_at?: string;
        hosted_url?: string;
      };
    };
  };
  changeSubscription: {
    params: undefined;
    query: undefined;
    body: {
      plan_id: string;
      effective?: "now" | "period_end";
      max_fee_micro?: number;
    };
    answer: {
      subscription: {
        org_id: string;
        plan_id: string;
        status: "active" | "past_due" | "cancelled";
        period_start: string;
        period_end: string;
        started_at: string;
        next_plan_id?: string;
      };
      plan: {
        id: string;
        name: string;
        monthly_minor: number;
        currency: string;
        included_micro: number;
        limits: {
          rpm: number;
          tpm: number;
          concurrency: number;
          keys: number;
          projects: number;
        };
        features: {
          sso: boolean;
          priority_support: boolean;
        };
        description: string;
        public: boolean;
        sort: number;
      };
      invoice: {
        id: string;
        org_id: string;
        number: string;
        fy: string;
        kind: "tax_invoice" | "export_invoice" | "invoice" | "statement" | "credit_note";
        currency: "INR" | "USD";
        place_of_supply: string;
        supplier_gstin: string;
        recipient_gstin: string;
        recipient: {
          legal_name: string;
          gstin: string;
          tax_id: string;
          country: string;
        };
        lines: readonly ({
          description: string;
          kind: "credits" | "plan" | "proration" | "adjustment";
          sac: string;
          quantity: number;
          unit_minor: number;
          amount_minor: number;
        })[];
        taxable_minor: number;
        cgst_minor: number;
        sgst_minor: number;
        igst_minor: number;
        total_minor: number;
        hsn_sac: string;
        irn_status: "not_required" | "pending" | "generated" | "failed" | "cancelled";
        irn: string;
        topup_id: string;
        fx_rate: string;
        charged_rate?: string;
        spread_bps?: number;
        spread_minor?: number;
        issued_at: string;
        status: "paid" | "partially_credited" | "credited";
        credited_minor: number;
        plan_id?: string;
        period_start?: string;
        period_end?: string;
        original_id?: string;
        credit_note_ids?: readonly (string)[];
        replaced_by_id?: string;
        replaces_id?: string;
      } | null;
      fee_micro: number;
      included_micro: number;
      prorated_bps: number;
      effective: "now" | "period_end";
    };
  };
  closeOrg: {
    params: {
      org: string;
    };
    query: undefined;
    body: {
      confirm: string;
      refund_requested?: boolean;
    };
    answer: {
      id: string;
      slug: string;
      name: string;
      kind: "personal" | "team" | "enterprise";
      billing_country: string;
      billing_currency: "INR" | "USD";
      legal_name: string;
      gstin: string;
      tax_id: string;
      tax_status: "unregistered" | "gst_registered" | "sez" | "overseas";
      plan_id: string;
      status: "active" | "suspended" | "closed";
      role?: "owner" | "admin" | "billing" | "member" | "viewer";
      billing_email: string;
      billing_address: {
        line1: string;
        city: string;
        state_code: string;
        postal_code: string;
        country: string;
      };
      settings: {
        security: {
          require_2fa: boolean;
          session_hours: number;
          console_ip_allow: readonly (string)[];
          key_default_expiry_days: number;
        };
        timezone: string;
        credits_low_micro?: number;
        budget?: {
          monthly_micro: number;
          hard: boolean;
          spike_alert_pct?: number;
        };
        hold?: "full" | "fit";
      };
      data_policy: {
        logging: "on" | "metadata" | "off";
        retention_days: number;
        zdr: boolean;
        no_train: boolean;
        regions: readonly (string)[];
        redact: {
          presets: readonly (string)[];
          patterns: readonly (string)[];
        };
      };
      created_at: string;
      closed_at?: string;
      erasure_requested_at?: string;
      erasure_due_at?: string;
    };
  };
  correctInvoice: {
    params: {
      id: string;
    };
    query: undefined;
    body: {
      gstin: string;
      reason: string;
    };
    answer: {
      status: "ticket";
      ticket: {
        id: string;
        org_id: string;
        kind: "limit_increase" | "invoice_correction" | "refund" | "close_org" | "other";
        status: "open" | "approved" | "rejected" | "closed";
        subject: string;
        body: Record<string, string | number | boolean>;
        created_by: string;
        created_at: string;
        answer?: string;
        decided_at?: string;
      };
    };
  };
  createAnalyticsUser: {
    params: undefined;
    query: undefined;
    body: {
      name: string;
      expires_in?: number;
      expires_at?: string;
    };
    answer: {
      id: string;
      object: "analytics_user";
      name: string;
      org_id: string;
      username: string;
      created_at: string;
      expires_at: string;
      password: string;
      url: string;
      database: string;
    };
  };
  createApp: {
    params: undefined;
    query: undefined;
    body: {
      name: string;
      slug?: string;
      category?: "agents" | "assistant" | "coding" | "customer_support" | "data_analysis" | "education" | "games" | "image_video" | "marketing" | "productivity" | "research" | "writing" | "other";
      url?: string;
      public?: boolean;
    };
    answer: {
      slug: string;
      name: string;
      category: string;
      url: string;
      public: boolean;
      created_at: string;
    };
  };
  createKey: {
    params: undefined;
    query: undefined;
    body: {
      project_id?: string;
      name: string;
      scopes?: readonly ("inference" | "read:usage" | "read:catalog" | "read:billing" | "write:billing" | "read:keys" | "write:keys" | "read:org" | "write:org" | "read:policies" | "write:policies" | "read:payloads")[];
      environment?: "live" | "test";
      limits?: {
        rpm?: number | null;
        tpm?: number | null;
        concurrency?: number | null;
      };
      budget?: {
        daily_micro?: number | null;
        hard?: boolean;
      };
      expires_in?: string;
      on_disconnect?: "cancel" | "drain" | "detach";
      hold?: "full" | "fit";
      svc_version?: string;
    };
    answer: {
      id: string;
      project_id: string;
      name: string;
      hint: string;
      kind?: "playground";
      environment: "live" | "test";
      scopes: readonly ("inference" | "read:usage" | "read:catalog" | "read:billing" | "write:billing" | "read:keys" | "write:keys" | "read:org" | "write:org" | "read:policies" | "write:policies" | "read:payloads")[];
      status: "active" | "rotating" | "revoked" | "expired";
      limits: {
        rpm?: number;
        tpm?: number;
        concurrency?: number;
      };
      budget: {
        daily_micro: number;
        hard: boolean;
      };
      on_disconnect: "cancel" | "drain" | "detach";
      hold?: "full" | "fit";
      svc_version: string;
      created_at: string;
      created_by?: string;
      last_used_at?: string;
      lineage_id?: string;
      expires_at?: string;
      revoked_at?: string;
      secret: string;
    };
  };
  createMandate: {
    params: undefined;
    query: undefined;
    body: {
      method: "upi" | "emandate" | "card" | "link" | "ach_debit";
    };
    answer: {
      mandate: {
        id: string;
        org_id: string;
        gateway: string;
        method: string;
        mandate_ref: string;
        token_ref: string;
        max_amount_minor: number;
        currency: string;
        status: "pending" | "active" | "paused" | "failed" | "cancelled";
        pause_reason?: "failures" | "declined" | "dispute" | "bank" | "mismatch";
        auto_topup: {
          enabled: boolean;
          threshold_micro: number;
          amount_minor: number;
        };
        notify_hours: number;
        consecutive_failures: number;
        registered_at?: string;
        created_at: string;
        cancelled_at?: string;
        hosted_url?: string;
      };
      url: string;
    };
  };
  createOrg: {
    params: undefined;
    query: undefined;
    body: {
      slug: string;
      name: string;
      billing_country: string;
      kind?: "personal" | "team" | "enterprise";
    };
    answer: {
      id: string;
      slug: string;
      name: string;
      kind: "personal" | "team" | "enterprise";
      billing_country: string;
      billing_currency: "INR" | "USD";
      legal_name: string;
      gstin: string;
      tax_id: string;
      tax_status: "unregistered" | "gst_registered" | "sez" | "overseas";
      plan_id: string;
      status: "active" | "suspended" | "closed";
      role?: "owner" | "admin" | "billing" | "member" | "viewer";
      billing_email: string;
      billing_address: {
        line1: string;
        city: string;
        state_code: string;
        postal_code: string;
        country: string;
      };
      settings: {
        security: {
          require_2fa: boolean;
          session_hours: number;
          console_ip_allow: readonly (string)[];
          key_default_expiry_days: number;
        };
        timezone: string;
        credits_low_micro?: number;
        budget?: {
          monthly_micro: number;
          hard: boolean;
          spike_alert_pct?: number;
        };
        hold?: "full" | "fit";
      };
      data_policy: {
        logging: "on" | "metadata" | "off";
        retention_days: number;
        zdr: boolean;
        no_train: boolean;
        regions: readonly (string)[];
        redact: {
          presets: readonly (string)[];
          patterns: readonly (string)[];
        };
      };
      created_at: string;
      closed_at?: string;
      erasure_requested_at?: string;
      erasure_due_at?: string;
    };
  };
  createPlaygroundKey: {
    params: undefined;
    query: undefined;
    body: {
      project_id: string;
      environment?: "live" | "test";
    };
    answer: {
      id: string;
      project_id: string;
      name: string;
      hint: string;
      kind: "playground";
      environment: "live" | "test";
      scopes: readonly ("inference" | "read:usage" | "read:catalog" | "read:billing" | "write:billing" | "read:keys" | "write:keys" | "read:org" | "write:org" | "read:policies" | "write:policies" | "read:payloads")[];
      status: "active" | "rotating" | "revoked" | "expired";
      limits: {
        rpm?: number;
        tpm?: number;
        concurrency?: number;
      };
      budget: {
        daily_micro: number;
        hard: boolean;
      };
      on_disconnect: "cancel" | "drain" | "detach";
      hold?: "full" | "fit";
      svc_version: string;
      created_at: string;
      created_by?: string;
      last_used_at?: string;
      lineage_id?: string;
      expires_at?: string;
      revoked_at?: string;
      secret: string;
    };
  };
  createPolicy: {
    params: undefined;
    query: undefined;
    body: {
      name: string;
      yaml: string;
    };
    answer: {
      name: string;
      version: number;
      status: "draft" | "active" | "retired";
      created_at: string;
      created_by: string;
      scopes: readonly ({
        project_id?: string;
      })[];
      yaml: string;
      warnings: readonly ({
        path: string;
        message: string;
        line: number;
        column: number;
      })[];
    };
  };
  createPolicyVersion: {
    params: {
      name: string;
    };
    query: undefined;
    body: {
      yaml: string;
    };
    answer: {
      name: string;
      version: number;
      status: "draft" | "active" | "retired";
      created_at: string;
      created_by: string;
      scopes: readonly ({
        project_id?: string;
      })[];
      yaml: string;
      warnings: readonly ({
        path: string;
        message: string;
        line: number;
        column: number;
      })[];
    };
  };
  createProject: {
    params: undefined;
    query: undefined;
    body: {
      slug: string;
      name: string;
      environment?: "live" | "test";
      budget?: {
        monthly_micro?: number | null;
        hard?: boolean;
      };
      hold?: "full" | "fit";
    };
    answer: {
      id: string;
      org_id: string;
      slug: string;
      name: string;
      environment: "live" | "test";
      status: "active" | "deleted";
      budget: {
        monthly_micro: number;
        hard: boolean;
      };
      hold?: "full" | "fit";
      spend_today_micro: number;
      spend_month_micro: number;
      created_at: string;
    };
  };
  createProviderKey: {
    params: undefined;
    query: undefined;
    body: {
      provider: string;
      name?: string;
      credential: string | {
        access_key_id: string;
        secret_access_key: string;
        session_token?: string;
      } | {
        type: "service_account";
        client_email: string;
        private_key: string;
        private_key_id: string;
        token_uri?: string;
      };
      platform_fallback?: boolean;
    };
    answer: {
      id: string;
      provider: string;
      name: string;
      hint: string;
      platform_fallback: boolean;
      status: "active" | "unreadable";
      created_at: string;
    };
  };
  createScimToken: {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: {
      id: string;
      hint: string;
      status: "active" | "revoked";
      created_at: string;
      last_used: string | null;
      previous_works_until: string | null;
      token: string;
    };
  };
  createTicket: {
    params: undefined;
    query: undefined;
    body: {
      kind?: "refund" | "other";
      subject: string;
      message?: string;
    };
    answer: {
      id: string;
      org_id: string;
      kind: "limit_increase" | "invoice_correction" | "refund" | "close_org" | "other";
      status: "open" | "approved" | "rejected" | "closed";
      subject: string;
      body: Record<string, string | number | boolean>;
      created_by: string;
      created_at: string;
      answer?: string;
      decided_at?: string;
    };
  };
  createTopup: {
    params: undefined;
    query: undefined;
    body: {
      amount_minor: number;
    };
    answer: {
      topup: {
        id: string;
        org_id: string;
        gateway: string;
        gateway_ref: string;
        payment_ref?: string;
        currency: string;
        amount_minor: number;
        tax_minor: number;
        total_minor: number;
        fee_minor: number;
        fx_rate: string;
        mid_rate: string;
        spread_bps: number;
        spread_minor: number;
        credits_micro: number;
        method: string;
        status: "pending" | "paid" | "failed" | "expired" | "partially_refunded" | "refunded" | "disputed";
        invoice_id?: string;
        source: "checkout" | "auto_topup" | "offline";
        refunded_minor: number;
        failure?: string;
        created_at: string;
        paid_at?: string;
        checkout_url?: string;
      };
      checkout_url: string;
      quote: {
        rail: string;
        currency: string;
        amount_minor: number;
        tax_minor: number;
        total_minor: number;
        credits_micro: number;
        fx_rate: string;
        mid_rate: string;
        spread_bps: number;
        spread_minor: number;
        fx_day: string;
        parts: readonly ({
          kind: "credit" | "spread" | "fees" | "cgst" | "sgst" | "igst";
          minor: number;
          bps?: number;
        })[];
        fees: {
          rail: string;
          items: readonly ({
            method: string;
            bps: number;
            fixed_minor?: number;
            note?: string;
          })[];
        };
        min_amount_minor: number;
        display: string;
      };
    };
  };
  createWebhook: {
    params: undefined;
    query: undefined;
    body: {
      url: string;
      events?: readonly ("key.created" | "key.rotated" | "key.revoked" | "member.added" | "member.joined" | "member.removed" | "org.updated" | "org.closed" | "erasure.requested" | "erasure.done" | "limits.changed" | "ticket.decided" | "policy.activated" | "canary.red" | "endpoint.down" | "budget.exceeded" | "spend.spike" | "credits.low" | "credits.negative" | "topup.paid" | "topup.failed" | "topup.disputed" | "refund.settled" | "refund.failed" | "invoice.issued" | "auto_topup.notified" | "auto_topup.charged" | "auto_topup.failed" | "mandate.active" | "mandate.paused" | "mandate.failed" | "mandate.cancelled" | "subscription.changed" | "subscription.renewed" | "subscription.past_due" | "webhook.disabled")[];
      description?: string;
    };
    answer: {
      id: string;
      org_id: string;
      url: string;
      events: readonly ("key.created" | "key.rotated" | "key.revoked" | "member.added" | "member.joined" | "member.removed" | "org.updated" | "org.closed" | "erasure.requested" | "erasure.done" | "limits.changed" | "ticket.decided" | "policy.activated" | "canary.red" | "endpoint.down" | "budget.exceeded" | "spend.spike" | "credits.low" | "credits.negative" | "topup.paid" | "topup.failed" | "topup.disputed" | "refund.settled" | "refund.failed" | "invoice.issued" | "auto_topup.notified" | "auto_topup.charged" | "auto_topup.failed" | "mandate.active" | "mandate.paused" | "mandate.failed" | "mandate.cancelled" | "subscription.changed" | "subscription.renewed" | "subscription.past_due" | "webhook.disabled" | "webhook.test")[];
      description: string;
      status: "active" | "disabled";
      disabled_reason?: "manual" | "gone" | "failing";
      previous_secret_until?: string;
      created_at: string;
      secret: string;
    };
  };
  deactivatePolicy: {
    params: {
      name: string;
    };
    query: undefined;
    body: {
      scope?: {
        project_id?: string;
      };
    };
    answer: {
      name: string;
      version: number;
      status: "draft" | "active" | "retired";
      created_at: string;
      created_by: string;
      scopes: readonly ({
        project_id?: string;
      })[];
    };
  };
  deleteAnalyticsUser: {
    params: {
      id: string;
    };
    query: undefined;
    body: undefined;
    answer: undefined;
  };
  deleteApp: {
    params: {
      slug: string;
    };
    query: undefined;
    body: undefined;
    answer: undefined;
  };
  deleteProject: {
    params: {
      id: string;
    };
    query: undefined;
    body: undefined;
    answer: undefined;
  };
  deleteProviderKey: {
    params: {
      id: string;
    };
    query: undefined;
    body: undefined;
    answer: undefined;
  };
  deleteWebhook: {
    params: {
      id: string;
    };
    query: undefined;
    body: undefined;
    answer: undefined;
  };
  downloadExport: {
    params: {
      org: string;
      id: string;
    };
    query: undefined;
    body: undefined;
    answer: undefined;
  };
  dryRun: {
    params: undefined;
    query: {
      project_id?: string;
      environment?: "live" | "test";
    };
    body: {
      model: string;
      messages: readonly ({
        role: "system" | "user" | "assistant";
        content: string | readonly ({
          type: "text";
          text: string;
          cache?: {
            ttl?: "5m" | "1h";
          };
          seal?: {
            by: "anthropic" | "google" | "openai";
            data: string;
          };
          citations?: readonly ({
            type: "url" | "document";
          })[];
        } | {
          type: "image";
          data?: string;
          media_type?: string;
          url?: string;
          file_id?: string;
          detail?: string;
          cache?: {
            ttl?: "5m" | "1h";
          };
          seal?: {
            by: "anthropic" | "google" | "openai";
            data: string;
          };
        } | {
          type: "document";
          data?: string;
          media_type?: string;
          url?: string;
          file_id?: string;
          text?: string;
          name?: string;
          context?: string;
          citations?: boolean;
          cache?: {
            ttl?: "5m" | "1h";
          };
        } | {
          type: "audio" | "video";
          data?: string;
          media_type?: string;
          url?: string;
          file_id?: string;
        } | {
          type: "tool_call";
          id: string;
          name: string;
          arguments: string;
          seal?: {
            by: "anthropic" | "google" | "openai";
            data: string;
          };
          cache?: {
            ttl?: "5m" | "1h";
          };
        } | {
          type: "tool_result";
          id: string;
          name?: string;
          content: string | readonly ({
            type: "text";
            text: string;
            cache?: {
              ttl?: "5m" | "1h";
            };
            seal?: {
              by: "anthropic" | "google" | "openai";
              data: string;
            };
            citations?: readonly ({
              type: "url" | "document";
            })[];
          } | {
            type: "image";
            data?: string;
            media_type?: string;
            url?: string;
            file_id?: string;
            detail?: string;
            cache?: {
              ttl?: "5m" | "1h";
            };
            seal?: {
              by: "anthropic" | "google" | "openai";
              data: string;
            };
          } | {
            type: "document";
            data?: string;
            media_type?: string;
            url?: string;
            file_id?: string;
            text?: string;
            name?: string;
            context?: string;
            citations?: boolean;
            cache?: {
              ttl?: "5m" | "1h";
            };
          })[];
          is_error?: boolean;
          cache?: {
            ttl?: "5m" | "1h";
          };
        } | {
          type: "reasoning";
          text: string;
          summary?: boolean;
          redacted?: boolean;
          seal?: {
            by: "anthropic" | "google" | "openai";
            data: string;
          };
        } | {
          type: "refusal";
          text: string;
        })[];
      })[];
      stream?: boolean;
      generation?: {
        max_tokens?: number;
        temperature?: number;
        top_p?: number;
        top_k?: number;
        stop?: string | readonly (string)[];
        seed?: number;
        frequency_penalty?: number;
        presence_penalty?: number;
        logit_bias?: Record<string, number>;
        logprobs?: number;
        candidates?: number;
        reasoning?: {
          effort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";
          budget_tokens?: number;
          adaptive?: boolean;
          show?: boolean;
        };
        verbosity?: string;
        service_tier?: string;
        cache_key?: string;
      };
      tools?: readonly ({
        name: string;
        description?: string;
        parameters?: Record<string, unknown>;
        strict?: boolean;
        cache?: {
          ttl?: "5m" | "1h";
        };
      })[];
      tool_choice?: "auto" | "none" | "required" | {
        name: string;
      };
      parallel_tools?: boolean;
      format?: {
        type: "text";
      } | {
        type: "json";
      } | {
        type: "json_schema";
        name?: string;
        description?: string;
        schema: Record<string, unknown>;
        strict?: boolean;
      };
      route?: {
        providers?: {
          order?: readonly (string)[];
          only?: readonly (string)[];
          ignore?: readonly (string)[];
        };
        fallbacks?: boolean;
        sort?: "price" | "latency" | "throughput" | "balanced";
        require?: {
          zdr?: boolean;
          no_train?: boolean;
          regions?: readonly (string)[];
          max_price?: {
            input?: number;
            output?: number;
          };
        };
        max_attempts?: number;
        timeout_ms?: number;
        affinity?: "none" | "user" | "session" | "prompt";
      };
      data_policy?: "no_train" | "zdr";
      metadata?: {
        app?: string;
        user_id?: string;
        session_id?: string;
        tags?: Record<string, string>;
      };
      compat?: {
        strict?: boolean;
      };
      provider_options?: Record<string, unknown>;
      on_disconnect?: "cancel" | "drain" | "detach";
      hold?: "full" | "fit";
      hold_wait_ms?: number;
    };
    answer: {
      plan: readonly ({
        endpoint_id: string;
        provider: string;
        score: number;
        reason: string;
      })[];
      excluded: readonly ({
        endpoint_id: string;
        kind: string;
        reason: string;
      })[];
      trace: string;
      warnings: readonly (string)[];
      reserve_micro: number;
      price_version: string;
    };
  };
  dryRunPolicy: {
    params: {
      name: string;
    };
    query: undefined;
    body: {
      model?: string;
      version?: number;
      est_input_tokens?: number;
      max_output_tokens?: number;
      stream?: boolean;
      tools?: boolean;
      images?: boolean;
      audio?: boolean;
      json_schema?: boolean;
      project_id?: string;
      key_id?: string;
      app?: string;
      tags?: Record<string, string>;
      user?: string;
      session?: string;
      route?: {
        providers?: {
          order?: readonly (string)[];
          only?: readonly (string)[];
          ignore?: readonly (string)[];
        };
        fallbacks?: boolean;
        sort?: "price" | "latency" | "throughput" | "balanced";
        require?: {
          zdr?: boolean;
          no_train?: boolean;
          regions?: readonly (string)[];
          max_price?: {
            input?: number;
            output?: number;
          };
        };
        max_attempts?: number;
        timeout_ms?: number;
        affinity?: "none" | "user" | "session" | "prompt";
      };
      data_policy?: "no_train" | "zdr";
      replay?: {
        hours: number;
        version?: number;
        project_id?: string;
      };
    };
    answer: {
      policy: string;
      version: number;
      decision?: {
        sort: "price" | "latency" | "throughput" | "balanced";
        affinity: "none" | "user" | "session" | "prompt";
        max_attempts: number;
        notes: readonly (string)[];
        rule: string;
        deny?: string;
      };
      plan: readonly ({
        attempt: number;
        endpoint_id: string;
        provider: string;
        region: string;
        est_cost_micro: number;
        price: {
          input: number;
          output: number;
        };
        health: {
          error_rate: number;
          first_token_ms: number | null;
          whole_ms: number | null;
        } | null;
        reason: string;
      })[];
      reserve_micro: number;
      trials: {
        canary?: {
          endpoint_id: string;
          percent: number;
          state: "warming" | "green" | "red";
          takes_part: boolean;
        };
        experiment?: {
          name: string;
          arms: readonly ({
            arm: string;
            endpoint_id: string;
            weight: number;
          })[];
          arm: string;
        };
        shadow?: {
          endpoint_id: string;
          percent: number;
          bill: "platform" | "org";
          takes_part: boolean;
        };
      };
      excluded: readonly ({
        endpoint_id: string;
        kind: string;
        reason: string;
      })[];
      trace: string;
      replay?: {
        hours: number;
        version: number;
        requests: number;
        replayed: number;
        skipped: {
          requests: number;
          rejected: number;
          unknown_model: number;
          unreadable: number;
        };
        moved: number;
        moved_share: number;
        cost_micro: {
          recorded: number;
          replayed: number;
          delta: number;
          repriced: number;
        };
        ttft_ms: {
          compared: number;
          recorded_p50: number | null;
          recorded_p95: number | null;
          recorded_mean: number | null;
          expected_p50: number | null;
          expected_p95: number | null;
          expected_mean: number | null;
          delta_p50: number | null;
          delta_mean: number | null;
          unknown: number;
        };
        refusals: {
          recorded: {
            denied_by_policy: number;
            no_endpoint: number;
          };
          replayed: {
            denied_by_policy: number;
            no_endpoint: number;
          };
          newly: number;
        };
        failures: {
          recorded: number;
          replayed: number;
        };
        by_endpoint: readonly ({
          endpoint_id: string;
          recorded: number;
          replayed: number;
        })[];
        flows: readonly ({
          from: {
            outcome: "served" | "failed" | "refused" | "other";
            endpoint_id: string;
          };
          to: {
            outcome: "served" | "failed" | "refused" | "other";
            endpoint_id: string;
          };
          changed: boolean;
          requests: number;
          recorded_micro: number;
          replayed_micro: number;
          compared: number;
          recorded_ttft_p50_ms: number | null;
          expected_ttft_p50_ms: number | null;
        })[];
        by_rule: readonly ({
          rule: string;
          requests: number;
        })[];
        truncated: boolean;
        incomplete_since?: string;
        examples: readonly ({
          request_id: string;
          reason: string;
          is_new: boolean;
        })[];
        assumptions: readonly (string)[];
      };
    };
  };
  endSession: {
    params: {
      id: string;
    };
    query: undefined;
    body: undefined;
    answer: undefined;
  };
  exportInvoices: {
    params: undefined;
    query: {
      month?: string;
      format?: "csv" | "json" | "gstr1";
    };
    body: undefined;
    answer: string;
  };
  exportOrg: {
    params: {
      org: string;
    };
    query: undefined;
    body: undefined;
    answer: {
      id: string;
      org_id: string;
      status: "pending" | "ready" | "failed" | "expired";
      created_at: string;
      bytes?: number;
      expires_at?: string;
      url?: string;
      incomplete_since?: string;
    };
  };
  getApp: {
    params: {
      slug: string;
    };
    query: undefined;
    body: undefined;
    answer: {
      slug: string;
      name: string;
      category: string;
      url: string;
      public: boolean;
      created_at: string;
    };
  };
  getAttention: {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: {
      object: "list";
      data: readonly ({
        kind: "credit_low" | "subscription_past_due" | "auto_topup_paused" | "auto_topup_failed" | "budget_used_up" | "budget_near" | "endpoint_down" | "canary_red" | "webhook_disabled" | "webhook_failing" | "key_expiring" | "cell_silent" | "ticket_open" | "payment_parked" | "books_differ" | "invoice_unregistered" | "job_given_up" | "calls_uncharged" | "provider_without_credential";
        severity: "critical" | "warning" | "info";
        title: string;
        subject: {
          type: "org" | "project" | "key" | "subscription" | "mandate" | "endpoint" | "policy" | "webhook" | "job" | "provider" | "ticket" | "payment" | "cell" | "installation";
          id: string;
          name: string;
        };
        since: string | null;
        details?: Record<string, string | number>;
        link?: string;
      })[];
      left_out: readonly ({
        kind: "credit_low" | "subscription_past_due" | "auto_topup_paused" | "auto_topup_failed" | "budget_used_up" | "budget_near" | "endpoint_down" | "canary_red" | "webhook_disabled" | "webhook_failing" | "key_expiring" | "cell_silent" | "ticket_open" | "payment_parked" | "books_differ" | "invoice_unregistered" | "job_given_up" | "calls_uncharged" | "provider_without_credential";
        count: number;
      })[];
    };
  };
  getAutoTopup: {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: {
      mandate: {
        id: string;
        org_id: string;
        gateway: string;
        method: string;
        mandate_ref: string;
        token_ref: string;
        max_amount_minor: number;
        currency: string;
        status: "pending" | "active" | "paused" | "failed" | "cancelled";
        pause_reason?: "failures" | "declined" | "dispute" | "bank" | "mismatch";
        auto_topup: {
          enabled: boolean;
          threshold_micro: number;
          amount_minor: number;
        };
        notify_hours: number;
        consecutive_failures: number;
        registered_at?: string;
        created_at: string;
        cancelled_at?: string;
        hosted_url?: string;
      } | null;
      registering: {
        id: string;
        org_id: string;
        gateway: string;
        method: string;
        mandate_ref: string;
        token_ref: string;
        max_amount_minor: number;
        currency: string;
        status: "pending" | "active" | "paused" | "failed" | "cancelled";
        pause_reason?: "failures" | "declined" | "dispute" | "bank" | "mismatch";
        auto_topup: {
          enabled: boolean;
          threshold_micro: number;
          amount_minor: number;
        };
        notify_hours: number;
        consecutive_failures: number;
        registered_at?: string;
        created_at: string;
        cancelled_at?: string;
        hosted_url?: string;
      } | null;
      config: {
        enabled: boolean;
        threshold_micro: number;
        amount_minor: number;
      };
      debit: {
        status: "announced" | "under_way";
        currency: "INR" | "USD";
        total_minor: number;
        due_at: string;
        topup_id?: string;
      } | null;
      next_try_at?: string;
      rail: string;
      methods: readonly ("upi" | "emandate" | "card" | "link" | "ach_debit")[];
      cap_minor: number;
      notify_hours: number;
      currency: "INR" | "USD";
      min_amount_minor: number;
    };
  };
  getBudgets: {
    params: undefined;
    query: {
      limit?: number;
    };
    body: undefined;
    answer: {
      object: "list";
      data: readonly ({
        scope: "org" | "project" | "key";
        id: string;
        name: string;
        hard: boolean;
        window: {
          from: string;
          to: string;
        };
        limit_micro: number;
        spent_micro: number;
        held_micro?: number;
        forecast_micro: number;
        reached_at: string | null;
      })[];
      more: boolean;
      less_used_left_out: boolean;
      rate: "recent" | "window";
      credit?: {
        balance_micro: number;
        held_micro: number;
        available_micro: number;
        forecast_days_left: number | null;
        empty_at: string | null;
      };
    };
  };
  getCredits: {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: {
      available_micro_usd: number;
      held_micro_usd: number;
      granted_micro_usd: number;
      display: {
        currency: string;
        amount: string;
      };
      currency: string;
      fx_rate: string;
      mid_rate: string;
      spread_bps: number;
      fx_day: string;
    };
  };
  getDelivery: {
    params: {
      id: string;
      delivery: string;
    };
    query: undefined;
    body: undefined;
    answer: {
      id: string;
      event_id: string;
      type: "key.created" | "key.rotated" | "key.revoked" | "member.added" | "member.joined" | "member.removed" | "org.updated" | "org.closed" | "erasure.requested" | "erasure.done" | "limits.changed" | "ticket.decided" | "policy.activated" | "canary.red" | "endpoint.down" | "budget.exceeded" | "spend.spike" | "credits.low" | "credits.negative" | "topup.paid" | "topup.failed" | "topup.disputed" | "refund.settled" | "refund.failed" | "invoice.issued" | "auto_topup.notified" | "auto_topup.charged" | "auto_topup.failed" | "mandate.active" | "mandate.paused" | "mandate.failed" | "mandate.cancelled" | "subscription.changed" | "subscription.renewed" | "subscription.past_due" | "webhook.disabled" | "webhook.test";
      attempt: number;
      status: "pending" | "delivered" | "failed";
      http_status: number;
      duration_ms: number;
      response: string;
      error: string;
      request?: string;
      headers: Record<string, string>;
      created_at: string;
      attempted_at?: string;
      next_at?: string;
      url: string;
      event_kept: boolean;
      body?: string;
      response_headers: Record<string, string>;
      attempts: readonly ({
        attempt: number;
        attempted_at: string;
        http_status: number;
        duration_ms: number;
        error: string;
      })[];
    };
  };
  getDpa: {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: string;
  };
  getEvent: {
    params: {
      id: string;
    };
    query: undefined;
    body: undefined;
    answer: {
      id: string;
      type: "key.created" | "key.rotated" | "key.revoked" | "member.added" | "member.joined" | "member.removed" | "org.updated" | "org.closed" | "erasure.requested" | "erasure.done" | "limits.changed" | "ticket.decided" | "policy.activated" | "canary.red" | "endpoint.down" | "budget.exceeded" | "spend.spike" | "credits.low" | "credits.negative" | "topup.paid" | "topup.failed" | "topup.disputed" | "refund.settled" | "refund.failed" | "invoice.issued" | "auto_topup.notified" | "auto_topup.charged" | "auto_topup.failed" | "mandate.active" | "mandate.paused" | "mandate.failed" | "mandate.cancelled" | "subscription.changed" | "subscription.renewed" | "subscription.past_due" | "webhook.disabled" | "webhook.test";
      created_at: string;
      org_id: string;
      data: unknown;
    };
  };
  getInvoice: {
    params: {
      id: string;
    };
    query: undefined;
    body: undefined;
    answer: {
      id: string;
      org_id: string;
      number: string;
      fy: string;
      kind: "tax_invoice" | "export_invoice" | "invoice" | "statement" | "credit_note";
      currency: "INR" | "USD";
      place_of_supply: string;
      supplier_gstin: string;
      recipient_gstin: string;
      recipient: {
        legal_name: string;
        gstin: string;
        tax_id: string;
        country: string;
      };
      lines: readonly ({
        description: string;
        kind: "credits" | "plan" | "proration" | "adjustment";
        sac: string;
        quantity: number;
        unit_minor: number;
        amount_minor: number;
      })[];
      taxable_minor: number;
      cgst_minor: number;
      sgst_minor: number;
      igst_minor: number;
      total_minor: number;
      hsn_sac: string;
      irn_status: "not_required" | "pending" | "generated" | "failed" | "cancelled";
      irn: string;
      topup_id: string;
      fx_rate: string;
      charged_rate?: string;
      spread_bps?: number;
      spread_minor?: number;
      issued_at: string;
      status: "paid" | "partially_credited" | "credited";
      credited_minor: number;
      plan_id?: string;
      period_start?: string;
      period_end?: string;
      original_id?: string;
      credit_note_ids?: readonly (string)[];
      replaced_by_id?: string;
      replaces_id?: string;
    };
  };
  getInvoiceDocument: {
    params: {
      id: string;
    };
    query: undefined;
    body: undefined;
    answer: {
      title: string;
      number: string;
      supplier: {
        heading: string;
        name: string;
        lines: readonly (string)[];
      };
      recipient: {
        heading: string;
        name: string;
        lines: readonly (string)[];
      };
      facts: readonly ({
        name: string;
        value: string;
      })[];
      columns: readonly ({
        title: string;
        is_number: boolean;
      })[];
      rows: readonly (readonly (string)[])[];
      totals: readonly ({
        name: string;
        value: string;
        is_strong: boolean;
      })[];
      words: {
        name: string;
        value: string;
      };
      notes: readonly (string)[];
      registration: {
        facts: readonly ({
          name: string;
          value: string;
        })[];
      } | null;
      signature: readonly (string)[];
    };
  };
  getInvoiceHtml: {
    params: {
      id: string;
    };
    query: undefined;
    body: undefined;
    answer: undefined;
  };
  getInvoicePdf: {
    params: {
      id: string;
    };
    query: undefined;
    body: undefined;
    answer: undefined;
  };
  getKey: {
    params: {
      id: string;
    };
    query: undefined;
    body: undefined;
    answer: {
      id: string;
      project_id: string;
      name: string;
      hint: string;
      kind?: "playground";
      environment: "live" | "test";
      scopes: readonly ("inference" | "read:usage" | "read:catalog" | "read:billing" | "write:billing" | "read:keys" | "write:keys" | "read:org" | "write:org" | "read:policies" | "write:policies" | "read:payloads")[];
      status: "active" | "rotating" | "revoked" | "expired";
      limits: {
        rpm?: number;
        tpm?: number;
        concurrency?: number;
      };
      budget: {
        daily_micro: number;
        hard: boolean;
      };
      on_disconnect: "cancel" | "drain" | "detach";
      hold?: "full" | "fit";
      svc_version: string;
      created_at: string;
      created_by?: string;
      last_used_at?: string;
      lineage_id?: string;
      expires_at?: string;
      revoked_at?: string;
    };
  };
  getLimits: {
    params: undefined;
    query: {
      q?: string;
      project_id?: string;
      kind?: "key" | "playground" | "any";
      status?: "active" | "rotating";
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    answer: {
      plan: {
        rpm: number;
        tpm: number;
        concurrency: number;
        keys: number;
        projects: number;
      };
      org: {
        budget: {
          monthly_micro: number;
          hard: boolean;
        };
        spend_today_micro: number;
        spend_month_micro: number;
      };
      kept: {
        live: {
          bytes: number;
          max_bytes: number;
          responses_bytes: number;
          answers_bytes: number;
          payloads_bytes: number;
        };
        test: {
          bytes: number;
          max_bytes: number;
          responses_bytes: number;
          answers_bytes: number;
          payloads_bytes: number;
        };
        exports: {
          bytes: number;
          max_bytes: number;
        };
      };
      keys: readonly ({
        key_id: string;
        name: string;
        hint: string;
        kind?: "playground";
        project_id: string;
        lineage_id?: string;
        status: string;
        configured: {
          rpm: number;
          tpm: number;
          concurrency: number;
        };
        budget: {
          daily_micro: number;
          hard: boolean;
        };
        live: {
          rpm_remaining: number | null;
          tpm_remaining: number | null;
          rpm_used: number | null;
          tpm_used: number | null;
          concurrency_in_use: number;
        };
        held_micro: number | null;
        spend_today_micro: number;
        spend_month_micro: number;
      })[];
      next_cursor: string;
      rejected_24h: {
        rpm: number;
        concurrency: number;
      };
      upstream_capacity_24h: number;
      live: boolean;
      analytics: boolean;
    };
  };
  getMe: {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: {
      user: {
        id: string;
        email: string;
        name: string;
        status: "invited" | "active" | "disabled" | "erased";
      };
      orgs: readonly ({
        id: string;
        slug: string;
        name: string;
        kind: "personal" | "team" | "enterprise";
        billing_country: string;
        billing_currency: "INR" | "USD";
        legal_name: string;
        gstin: string;
        tax_id: string;
        tax_status: "unregistered" | "gst_registered" | "sez" | "overseas";
        plan_id: string;
        status: "active" | "suspended" | "closed";
        role?: "owner" | "admin" | "billing" | "member" | "viewer";
        billing_email: string;
        billing_address: {
          line1: string;
          city: string;
          state_code: string;
          postal_code: string;
          country: string;
        };
        settings: {
          security: {
            require_2fa: boolean;
            session_hours: number;
            console_ip_allow: readonly (string)[];
            key_default_expiry_days: number;
          };
          timezone: string;
          credits_low_micro?: number;
          budget?: {
            monthly_micro: number;
            hard: boolean;
            spike_alert_pct?: number;
          };
          hold?: "full" | "fit";
        };
        data_policy: {
          logging: "on" | "metadata" | "off";
          retention_days: number;
          zdr: boolean;
          no_train: boolean;
          regions: readonly (string)[];
          redact: {
            presets: readonly (string)[];
            patterns: readonly (string)[];
          };
        };
        created_at: string;
        closed_at?: string;
        erasure_requested_at?: string;
        erasure_due_at?: string;
      } | {
        id: string;
        slug: string;
        name: string;
        kind: "personal" | "team" | "enterprise";
        status: "active" | "suspended" | "closed";
        role: "owner" | "admin" | "billing" | "member" | "viewer";
        locked: "session_expired" | "ip_not_allowed" | "two_factor_required";
      })[];
      active_org: string | null;
      role: "owner" | "admin" | "billing" | "member" | "viewer" | null;
      is_operator: boolean;
      csrf_token: string;
      session: {
        id: string;
        created_at: string;
        ends_at: string;
        ip_prefix: string;
        user_agent: string;
        second_factor: boolean;
        current: boolean;
      };
    };
  };
  getModel: {
    params: {
      vendor: string;
      model: string;
    };
    query: undefined;
    body: undefined;
    answer: {
      id: string;
      object: "model";
      created: number;
      owned_by: string;
      vendor: string;
      name: string;
      aliases?: readonly (string)[];
      task: "generate" | "embed" | "rerank";
      modalities: {
        in: readonly ("text" | "image" | "audio" | "video")[];
        out: readonly ("text" | "image" | "audio" | "video")[];
      };
      context_length: number;
      max_output: number;
      pricing_from: {
        input: number;
        output: number;
        cache_read: number;
        search_unit?: number;
      };
      endpoints: number;
      status: "active" | "deprecated";
      markup_bps: number;
      capabilities: {
        tools: boolean;
        json_schema: boolean;
        vision: boolean;
        audio: boolean;
        reasoning: boolean;
        cache: boolean;
        zdr: boolean;
        no_train: boolean;
      };
      uptime_30d: number;
      ttft_p50_ms: number;
      requests_7d: number;
    };
  };
  getModelEndpoints: {
    params: {
      vendor: string;
      model: string;
    };
    query: undefined;
    body: undefined;
    answer: {
      object: "list";
      model: string;
      data: readonly ({
        id: string;
        provider: string;
        provider_name: string;
        upstream_model: string;
        region: string;
        status: string;
        quantization: string;
        context_length: number;
        max_output: number;
        capabilities: {
          tools: {
            function: boolean;
            parallel: boolean;
          };
          json_schema: boolean;
          vision: boolean;
          audio: boolean;
          reasoning: boolean;
          cache: boolean;
        };
        price: {
          input: number;
          output: number;
          cache_read: number;
          search_unit?: number;
          tiers?: Record<string, {
            input: number;
            output: number;
            cache_read: number;
          }>;
          server_tools?: Record<string, number>;
        };
        markup_bps: number;
        data_policy: {
          trains: boolean;
          retention_days: number;
          zdr: boolean;
        };
        health: {
          state: "healthy" | "degraded" | "failing" | "saturated" | "unknown";
          error_rate: number;
          ttft_ms: number | null;
          tokens_per_second: number | null;
          out_for_ms: number;
        };
        uptime_30d: number;
        latency: {
          ttft_p50_ms: number;
          ttft_p95_ms: number;
        };
        attempts_30d: number;
      })[];
    };
  };
  getModelStats: {
    params: {
      vendor: string;
      model: string;
    };
    query: undefined;
    body: undefined;
    answer: {
      model: string;
      series: readonly ({
        endpoint_id: string;
        day: string;
        attempts: number;
        ok: number;
        ttft_p50_ms: number;
        ttft_p95_ms: number;
        tpot_p50_ms: number;
      })[];
      apps: readonly ({
        app_id: string;
        requests_7d: number;
        tokens_7d: number;
      })[];
      scheduled_prices: readonly ({
        endpoint_id: string;
        effective_at: string;
        price: {
          input: number;
          output: number;
          cache_read: number;
        };
        price_version: string;
      })[];
      prices: readonly ({
        endpoint_id: string;
        effective_at: string;
        price: {
          input: number;
          output: number;
          cache_read: number;
        };
        markup_bps: number;
        price_version: string;
      })[];
      changelog: readonly ({
        id: number;
        kind: "model_added" | "endpoint_added" | "endpoint_removed" | "price_change" | "deprecated" | "limits_change";
        summary: string;
        endpoint_id: string;
        effective_at: string;
        created_at: string;
      })[];
      analytics: boolean;
    };
  };
  getPolicyVersion: {
    params: {
      name: string;
      version: number;
    };
    query: undefined;
    body: undefined;
    answer: {
      name: string;
      version: number;
      status: "draft" | "active" | "retired";
      created_at: string;
      created_by: string;
      scopes: readonly ({
        project_id?: string;
      })[];
      yaml: string;
    };
  };
  getPricing: {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: {
      currencies: readonly (string)[];
      rails: readonly ({
        rail: string;
        items: readonly ({
          method: string;
          bps: number;
          fixed_minor?: number;
          note?: string;
        })[];
      })[];
      gst: {
        rate_bps: number;
        supplier_state: string;
        rule: string;
      };
      fx: {
        day: string;
        usd_inr: string;
        spread_bps: number;
      };
      plans: readonly ({
        id: string;
        name: string;
        monthly_minor: number;
        currency: string;
        included_micro: number;
        limits: {
          rpm: number;
          tpm: number;
          concurrency: number;
          keys: number;
          projects: number;
        };
        features: {
          sso: boolean;
          priority_support: boolean;
        };
        description: string;
        public: boolean;
        sort: number;
      })[];
      minimums_minor: Record<string, number>;
      markup: {
        frontier_bps: number;
        open_weight_min_bps: number;
        open_weight_max_bps: number;
        note: string;
      };
      own_keys: {
        fee_bps: number;
        fee_micro_per_request: number;
      };
      supplier: {
        legal_name: string;
        state: string;
        gstin: boolean;
      };
      generated_at: string;
    };
  };
  getProject: {
    params: {
      id: string;
    };
    query: undefined;
    body: undefined;
    answer: {
      id: string;
      org_id: string;
      slug: string;
      name: string;
      environment: "live" | "test";
      status: "active" | "deleted";
      budget: {
        monthly_micro: number;
        hard: boolean;
      };
      hold?: "full" | "fit";
      spend_today_micro: number;
      spend_month_micro: number;
      created_at: string;
    };
  };
  getReceipt: {
    params: {
      id: string;
    };
    query: undefined;
    body: undefined;
    answer: undefined;
  };
  getReceiptKeys: {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: {
      keys: readonly ({
        kty: "OKP";
        crv: "Ed25519";
        x: string;
        kid: string;
        alg: "EdDSA";
        use: "sig";
      })[];
    };
  };
  getRequest: {
    params: {
      id: string;
    };
    query: {
      raw?: "0" | "1" | "true" | "false";
    };
    body: undefined;
    answer: {
      request_id: string;
      ts: string;
      project_id: string;
      key_id: string;
      model: string;
      provider: string;
      endpoint_id: string;
      region: string;
      status: "ok" | "error" | "cancelled" | "rejected";
      http_status: number;
      error_code: string;
      stop_reason: string;
      attempts: number;
      input_tokens: number;
      cache_read_tokens: number;
      output_tokens: number;
      usage_source: "provider" | "estimated" | "none";
      cost_micro: number;
      ttft_ms: number;
      duration_ms: number;
      stream: boolean;
      byok: boolean;
      zdr: boolean;
      logged: boolean;
      app_id: string;
      user_hash: string;
      cell: string;
      dialect_in: string;
      upstream_model: string;
      price_version_id: string;
      upstream_ttft_ms: number;
      gw_overhead_ms: number;
      bytes_in: number;
      bytes_out: number;
      tool_calls: number;
      has_images: boolean;
      has_tools: boolean;
      has_schema: boolean;
      policy: string;
      policy_version: number;
      rule: string;
      canary: string;
      experiment: string;
      arm: string;
      cache_write_tokens: number;
      reasoning_tokens: number;
      tags: Record<string, string>;
      user_agent: string;
      client_ip_prefix: string;
      route_trace: string;
      plan: {
        policy: string | null;
        policy_version: number | null;
        rule: string | null;
        sort: "price" | "latency" | "throughput" | "balanced";
        considered: readonly ({
          endpoint_id: string;
          provider: string | null;
          region: string | null;
          order: number | null;
          attempted: boolean;
          chosen: boolean;
          reason: string | null;
          excluded: string | null;
          excluded_because: string | null;
          est_cost_micro?: number;
        })[];
        notes: readonly (string)[];
      } | null;
      error: {
        type: string;
        code: string;
        message: string | null;
        status: number;
        param: string | null;
        retry_after_ms?: number;
        details?: Record<string, unknown>;
        details_cut?: true;
        upstream?: {
          provider: string;
          endpoint_id: string;
          outcome: string;
          error_class: string;
          http_status: number;
          refusal: string;
        };
      } | null;
      cost: {
        total_micro_usd: number;
        lines: readonly ({
          kind: string;
          units: number;
          unit_price_nano: number;
          micro_usd: number;
          tool?: string;
          tier?: string;
        })[];
        price_version: string;
      };
      receipt: string;
      ledger: string | null;
      timing: {
        ttft_ms: number;
        upstream_ttft_ms: number;
        duration_ms: number;
        gw_overhead_ms: number;
      };
      usage: {
        source: string;
        normalised: {
          input_tokens: number;
          output_tokens: number;
          cache_read_tokens: number;
          cache_write_tokens: number;
          reasoning_tokens: number;
        };
      };
      attempt_rows: readonly ({
        attempt: number;
        ts: string;
        provider: string;
        endpoint_id: string;
        pool_id: string;
        key_hint: string;
        outcome: string;
        http_status: number;
        error_class: string;
        refusal: string;
        ttft_ms: number;
        duration_ms: number;
        output_tokens: number;
      })[];
      payload_state: "available" | "off" | "zdr" | "expired" | "erased" | "restricted";
      request?: Record<string, unknown>;
      request_raw?: Record<string, unknown> | string;
      response?: {
        candidates: readonly ({
          index: number;
          content: readonly ({
            type: "text" | "reasoning";
            text: string;
          } | {
            type: "tool_call";
            id: string;
            name: string;
            arguments: string;
          })[];
          stop: {
            reason: string;
          };
        })[];
        usage: {
          input_tokens: number;
          output_tokens: number;
          cache_read_tokens: number;
          cache_write_tokens: number;
          reasoning_tokens: number;
        };
        cost: {
          total_micro_usd: number;
          lines: readonly ({
            kind: string;
            units: number;
            unit_price_nano: number;
            micro_usd: number;
            tool?: string;
            tier?: string;
          })[];
          price_version: string;
        };
      };
    };
  };
  getScimToken: {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: {
      id: string;
      hint: string;
      status: "active" | "revoked";
      created_at: string;
      last_used: string | null;
      previous_works_until: string | null;
    };
  };
  getSubscription: {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: {
      subscription: {
        org_id: string;
        plan_id: string;
        status: "active" | "past_due" | "cancelled";
        period_start: string;
        period_end: string;
        started_at: string;
        next_plan_id?: string;
      };
      plan: {
        id: string;
        name: string;
        monthly_minor: number;
        currency: string;
        included_micro: number;
        limits: {
          rpm: number;
          tpm: number;
          concurrency: number;
          keys: number;
          projects: number;
        };
        features: {
          sso: boolean;
          priority_support: boolean;
        };
        description: string;
        public: boolean;
        sort: number;
      };
    };
  };
  getTicket: {
    params: {
      id: string;
    };
    query: undefined;
    body: undefined;
    answer: {
      id: string;
      org_id: string;
      kind: "limit_increase" | "invoice_correction" | "refund" | "close_org" | "other";
      status: "open" | "approved" | "rejected" | "closed";
      subject: string;
      body: Record<string, string | number | boolean>;
      created_by: string;
      created_at: string;
      answer?: string;
      decided_at?: string;
    };
  };
  getTopup: {
    params: {
      id: string;
    };
    query: undefined;
    body: undefined;
    answer: {
      id: string;
      org_id: string;
      gateway: string;
      gateway_ref: string;
      payment_ref?: string;
      currency: string;
      amount_minor: number;
      tax_minor: number;
      total_minor: number;
      fee_minor: number;
      fx_rate: string;
      mid_rate: string;
      spread_bps: number;
      spread_minor: number;
      credits_micro: number;
      method: string;
      status: "pending" | "paid" | "failed" | "expired" | "partially_refunded" | "refunded" | "disputed";
      invoice_id?: string;
      source: "checkout" | "auto_topup" | "offline";
      refunded_minor: number;
      failure?: string;
      created_at: string;
      paid_at?: string;
      checkout_url?: string;
    };
  };
  getUsage: {
    params: undefined;
    query: {
      range?: "24h" | "7d" | "30d" | "90d" | "custom";
      from?: string;
      to?: string;
      granularity?: "hour" | "day";
      group_by?: "project" | "key" | "model" | "provider" | "byok" | "app" | "tag";
      tag?: string;
      compare?: "0" | "1" | "true" | "false";
      project_id?: string;
      key_id?: string;
      model?: string;
      provider?: string;
      limit?: number;
    };
    body: undefined;
    answer: {
      object: "usage";
      range: {
        from: string;
        to: string;
        granularity: "hour" | "day";
      };
      group_by: string;
      totals: {
        requests: number;
        ok: number;
        errors: number;
        input_tokens: number;
        output_tokens: number;
        cache_read_tokens: number;
        cache_write_tokens: number;
        reasoning_tokens: number;
        cost_micro: number;
        latency: {
          ttft_p50_ms: number | null;
          ttft_p95_ms: number | null;
          duration_p50_ms: number | null;
          duration_p95_ms: number | null;
        };
        cache_share: number | null;
      };
      series: readonly ({
        requests: number;
        ok: number;
        errors: number;
        input_tokens: number;
        output_tokens: number;
        cache_read_tokens: number;
        cache_write_tokens: number;
        reasoning_tokens: number;
        cost_micro: number;
        latency: {
          ttft_p50_ms: number | null;
          ttft_p95_ms: number | null;
          duration_p50_ms: number | null;
          duration_p95_ms: number | null;
        };
        cache_share: number | null;
        bucket: string;
      })[];
      groups: readonly ({
        requests: number;
        ok: number;
        errors: number;
        input_tokens: number;
        output_tokens: number;
        cache_read_tokens: number;
        cache_write_tokens: number;
        reasoning_tokens: number;
        cost_micro: number;
        latency: {
          ttft_p50_ms: number | null;
          ttft_p95_ms: number | null;
          duration_p50_ms: number | null;
          duration_p95_ms: number | null;
        };
        cache_share: number | null;
        key: string;
        name: string;
        hint?: string;
      })[];
      groups_total: number;
      groups_more: boolean;
      incomplete_since?: string;
      compare?: {
        range: {
          from: string;
          to: string;
        };
        totals: {
          requests: number;
          ok: number;
          errors: number;
          input_tokens: number;
          output_tokens: number;
          cache_read_tokens: number;
          cache_write_tokens: number;
          reasoning_tokens: number;
          cost_micro: number;
          latency: {
            ttft_p50_ms: number | null;
            ttft_p95_ms: number | null;
            duration_p50_ms: number | null;
            duration_p95_ms: number | null;
          };
          cache_share: number | null;
        };
        series: readonly ({
          requests: number;
          ok: number;
          errors: number;
          input_tokens: number;
          output_tokens: number;
          cache_read_tokens: number;
          cache_write_tokens: number;
          reasoning_tokens: number;
          cost_micro: number;
          latency: {
            ttft_p50_ms: number | null;
            ttft_p95_ms: number | null;
            duration_p50_ms: number | null;
            duration_p95_ms: number | null;
          };
          cache_share: number | null;
          bucket: string;
        })[];
      };
    };
  };
  getWebhook: {
    params: {
      id: string;
    };
    query: undefined;
    body: undefined;
    answer: {
      id: string;
      org_id: string;
      url: string;
      events: readonly ("key.created" | "key.rotated" | "key.revoked" | "member.added" | "member.joined" | "member.removed" | "org.updated" | "org.closed" | "erasure.requested" | "erasure.done" | "limits.changed" | "ticket.decided" | "policy.activated" | "canary.red" | "endpoint.down" | "budget.exceeded" | "spend.spike" | "credits.low" | "credits.negative" | "topup.paid" | "topup.failed" | "topup.disputed" | "refund.settled" | "refund.failed" | "invoice.issued" | "auto_topup.notified" | "auto_topup.charged" | "auto_topup.failed" | "mandate.active" | "mandate.paused" | "mandate.failed" | "mandate.cancelled" | "subscription.changed" | "subscription.renewed" | "subscription.past_due" | "webhook.disabled" | "webhook.test")[];
      description: string;
      status: "active" | "disabled";
      disabled_reason?: "manual" | "gone" | "failing";
      previous_secret_until?: string;
      created_at: string;
      waiting: number;
      last_delivered_at?: string;
      failing_since?: string;
    };
  };
  inviteAgain: {
    params: {
      org: string;
      user: string;
    };
    query: undefined;
    body: undefined;
    answer: {
      org_id: string;
      user_id: string;
      role: "owner" | "admin" | "billing" | "member" | "viewer";
      email: string;
      name?: string;
      status: "active" | "invited" | "lapsed" | "disabled";
      since: string;
      is_managed: boolean;
      invitation?: {
        expires_at: string | null;
        invited_by: string;
      };
    };
  };
  listAnalyticsUsers: {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: {
      object: "list";
      data: readonly ({
        id: string;
        object: "analytics_user";
        name: string;
        org_id: string;
        username: string;
        created_at: string;
        expires_at: string;
      })[];
      url?: string;
      database: string;
    };
  };
  listApps: {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: {
      object: "list";
      data: readonly ({
        slug: string;
        name: string;
        category: string;
        url: string;
        public: boolean;
        created_at: string;
      })[];
    };
  };
  listAudit: {
    params: undefined;
    query: {
      actor?: string;
      actor_kind?: "key" | "person" | "directory" | "operator" | "system" | "nobody";
      act?: string;
      target?: string;
      since?: string;
      until?: string;
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    answer: {
      object: "list";
      data: readonly ({
        id: string;
        created_at: string;
        actor: {
          kind: "key" | "person" | "directory" | "operator" | "system" | "nobody";
          id: string;
        };
        act: string;
        target: string;
        changes: readonly ({
          field: string;
          before?: unknown;
          after?: unknown;
        })[];
        reason: string;
        request_id: string;
        ip_prefix: string;
        user_agent: string;
      })[];
      next_cursor: string;
    };
  };
  listCanaries: {
    params: {
      name: string;
    };
    query: undefined;
    body: undefined;
    answer: {
      object: "list";
      data: readonly ({
        version: number;
        endpoint_id: string;
        state: "warming" | "green" | "red";
        error_rate: number;
        error_rate_interval: {
          low: number;
          high: number;
        };
        samples: number;
        failures: number;
        max_error_rate: number;
        min_samples: number;
        reason: string;
        is_active: boolean;
        active_since: string | null;
        evaluated_at: string | null;
      })[];
    };
  };
  listDeliveries: {
    params: {
      id: string;
    };
    query: {
      status?: "pending" | "delivered" | "failed";
      type?: "key.created" | "key.rotated" | "key.revoked" | "member.added" | "member.joined" | "member.removed" | "org.updated" | "org.closed" | "erasure.requested" | "erasure.done" | "limits.changed" | "ticket.decided" | "policy.activated" | "canary.red" | "endpoint.down" | "budget.exceeded" | "spend.spike" | "credits.low" | "credits.negative" | "topup.paid" | "topup.failed" | "topup.disputed" | "refund.settled" | "refund.failed" | "invoice.issued" | "auto_topup.notified" | "auto_topup.charged" | "auto_topup.failed" | "mandate.active" | "mandate.paused" | "mandate.failed" | "mandate.cancelled" | "subscription.changed" | "subscription.renewed" | "subscription.past_due" | "webhook.disabled" | "webhook.test";
      event?: string;
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    answer: {
      object: "list";
      data: readonly ({
        id: string;
        event_id: string;
        type: "key.created" | "key.rotated" | "key.revoked" | "member.added" | "member.joined" | "member.removed" | "org.updated" | "org.closed" | "erasure.requested" | "erasure.done" | "limits.changed" | "ticket.decided" | "policy.activated" | "canary.red" | "endpoint.down" | "budget.exceeded" | "spend.spike" | "credits.low" | "credits.negative" | "topup.paid" | "topup.failed" | "topup.disputed" | "refund.settled" | "refund.failed" | "invoice.issued" | "auto_topup.notified" | "auto_topup.charged" | "auto_topup.failed" | "mandate.active" | "mandate.paused" | "mandate.failed" | "mandate.cancelled" | "subscription.changed" | "subscription.renewed" | "subscription.past_due" | "webhook.disabled" | "webhook.test";
        attempt: number;
        status: "pending" | "delivered" | "failed";
        http_status: number;
        duration_ms: number;
        response: string;
        error: string;
        request?: string;
        headers?: Record<string, string>;
        created_at: string;
        attempted_at?: string;
        next_at?: string;
      })[];
      next_cursor: string;
    };
  };
  listEvents: {
    params: undefined;
    query: {
      type?: "key.created" | "key.rotated" | "key.revoked" | "member.added" | "member.joined" | "member.removed" | "org.updated" | "org.closed" | "erasure.requested" | "erasure.done" | "limits.changed" | "ticket.decided" | "policy.activated" | "canary.red" | "endpoint.down" | "budget.exceeded" | "spend.spike" | "credits.low" | "credits.negative" | "topup.paid" | "topup.failed" | "topup.disputed" | "refund.settled" | "refund.failed" | "invoice.issued" | "auto_topup.notified" | "auto_topup.charged" | "auto_topup.failed" | "mandate.active" | "mandate.paused" | "mandate.failed" | "mandate.cancelled" | "subscription.changed" | "subscription.renewed" | "subscription.past_due" | "webhook.disabled" | "webhook.test" | readonly ("key.created" | "key.rotated" | "key.revoked" | "member.added" | "member.joined" | "member.removed" | "org.updated" | "org.closed" | "erasure.requested" | "erasure.done" | "limits.changed" | "ticket.decided" | "policy.activated" | "canary.red" | "endpoint.down" | "budget.exceeded" | "spend.spike" | "credits.low" | "credits.negative" | "topup.paid" | "topup.failed" | "topup.disputed" | "refund.settled" | "refund.failed" | "invoice.issued" | "auto_topup.notified" | "auto_topup.charged" | "auto_topup.failed" | "mandate.active" | "mandate.paused" | "mandate.failed" | "mandate.cancelled" | "subscription.changed" | "subscription.renewed" | "subscription.past_due" | "webhook.disabled" | "webhook.test")[];
      target?: string;
      since?: string;
      until?: string;
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    answer: {
      object: "list";
      data: readonly ({
        id: string;
        type: "key.created" | "key.rotated" | "key.revoked" | "member.added" | "member.joined" | "member.removed" | "org.updated" | "org.closed" | "erasure.requested" | "erasure.done" | "limits.changed" | "ticket.decided" | "policy.activated" | "canary.red" | "endpoint.down" | "budget.exceeded" | "spend.spike" | "credits.low" | "credits.negative" | "topup.paid" | "topup.failed" | "topup.disputed" | "refund.settled" | "refund.failed" | "invoice.issued" | "auto_topup.notified" | "auto_topup.charged" | "auto_topup.failed" | "mandate.active" | "mandate.paused" | "mandate.failed" | "mandate.cancelled" | "subscription.changed" | "subscription.renewed" | "subscription.past_due" | "webhook.disabled" | "webhook.test";
        created_at: string;
        org_id: string;
        data: unknown;
      })[];
      next_cursor: string;
    };
  };
  listExperiments: {
    params: {
      name: string;
    };
    query: {
      hours?: number;
    };
    body: undefined;
    answer: {
      object: "list";
      hours: number;
      data: readonly ({
        arm: string;
        experiment: string;
        requests: number;
        errors: number;
        cost_micro: number;
        ttft_p50_ms: number | null;
        ttft_p95_ms: number | null;
        output_tokens: number;
        environment: "live" | "test";
        tried: number;
        confidence: number;
        error_rate: number;
        error_rate_interval: {
          low: number;
          high: number;
        };
        cost_per_request_micro: number;
        cost_per_request_micro_interval: {
          low: number;
          high: number;
        } | null;
        ttft_p50_ms_interval: {
          low: number;
          high: number;
        } | null;
      })[];
      incomplete_since?: string;
    };
  };
  listExports: {
    params: {
      org: string;
    };
    query: undefined;
    body: undefined;
    answer: {
      object: "list";
      data: readonly ({
        id: string;
        org_id: string;
        status: "pending" | "ready" | "failed" | "expired";
        created_at: string;
        bytes?: number;
        expires_at?: string;
        url?: string;
        incomplete_since?: string;
      })[];
    };
  };
  listInvitations: {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: {
      object: "list";
      data: readonly ({
        id: string;
        org_id: string;
        org_slug: string;
        org_name: string;
        role: "owner" | "admin" | "billing" | "member" | "viewer";
        email: string;
        invited_by: string;
        created_at: string;
        expires_at: string | null;
      })[];
    };
  };
  listInvoices: {
    params: undefined;
    query: {
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    answer: {
      object: "list";
      data: readonly ({
        id: string;
        org_id: string;
        number: string;
        fy: string;
        kind: "tax_invoice" | "export_invoice" | "invoice" | "statement" | "credit_note";
        currency: "INR" | "USD";
        place_of_supply: string;
        supplier_gstin: string;
        recipient_gstin: string;
        recipient: {
          legal_name: string;
          gstin: string;
          tax_id: string;
          country: string;
        };
        lines: readonly ({
          description: string;
          kind: "credits" | "plan" | "proration" | "adjustment";
          sac: string;
          quantity: number;
          unit_minor: number;
          amount_minor: number;
        })[];
        taxable_minor: number;
        cgst_minor: number;
        sgst_minor: number;
        igst_minor: number;
        total_minor: number;
        hsn_sac: string;
        irn_status: "not_required" | "pending" | "generated" | "failed" | "cancelled";
        irn: string;
        topup_id: string;
        fx_rate: string;
        charged_rate?: string;
        spread_bps?: number;
        spread_minor?: number;
        issued_at: string;
        status: "paid" | "partially_credited" | "credited";
        credited_minor: number;
        plan_id?: string;
        period_start?: string;
        period_end?: string;
        original_id?: string;
        credit_note_ids?: readonly (string)[];
        replaced_by_id?: string;
        replaces_id?: string;
      })[];
      next_cursor: string;
    };
  };
  listKeys: {
    params: undefined;
    query: {
      q?: string;
      project_id?: string;
      kind?: "key" | "playground" | "any";
      status?: "active" | "rotating" | "revoked" | "expired";
      created_by?: string;
      person_id?: string;
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    answer: {
      object: "list";
      data: readonly ({
        id: string;
        project_id: string;
        name: string;
        hint: string;
        kind?: "playground";
        environment: "live" | "test";
        scopes: readonly ("inference" | "read:usage" | "read:catalog" | "read:billing" | "write:billing" | "read:keys" | "write:keys" | "read:org" | "write:org" | "read:policies" | "write:policies" | "read:payloads")[];
        status: "active" | "rotating" | "revoked" | "expired";
        limits: {
          rpm?: number;
          tpm?: number;
          concurrency?: number;
        };
        budget: {
          daily_micro: number;
          hard: boolean;
        };
        on_disconnect: "cancel" | "drain" | "detach";
        hold?: "full" | "fit";
        svc_version: string;
        created_at: string;
        created_by?: string;
        last_used_at?: string;
        lineage_id?: string;
        expires_at?: string;
        revoked_at?: string;
      })[];
      next_cursor: string;
    };
  };
  listLedger: {
    params: undefined;
    query: {
      cursor?: string;
      limit?: number;
      kind?: "topup" | "settle" | "refund" | "grant" | "expiry" | "adjustment" | "subscription" | "dispute" | "dispute_reversal";
      request_id?: string;
      format?: "json" | "csv";
    };
    body: undefined;
    answer: {
      object: "list";
      data: readonly ({
        seq: number;
        kind: "topup" | "settle" | "refund" | "grant" | "expiry" | "adjustment" | "subscription" | "dispute" | "dispute_reversal";
        amount_micro_usd: number;
        request_id?: string;
        ref_type?: string;
        ref_id?: string;
        created_at: string;
        details?: {
          first_seq: number;
          last_seq: number;
          entries: number;
        };
      })[];
      next_cursor: string;
      incomplete_since?: string;
    };
  };
  listMembers: {
    params: {
      org: string;
    };
    query: undefined;
    body: undefined;
    answer: {
      object: "list";
      data: readonly ({
        org_id: string;
        user_id: string;
        role: "owner" | "admin" | "billing" | "member" | "viewer";
        email: string;
        name?: string;
        status: "active" | "invited" | "lapsed" | "disabled";
        since: string;
        is_managed: boolean;
        invitation?: {
          expires_at: string | null;
          invited_by: string;
        };
      })[];
    };
  };
  listModels: {
    params: undefined;
    query: {
      vendor?: string;
      modality?: "text" | "image" | "audio" | "video";
      capability?: "tools" | "json_schema" | "vision" | "audio" | "reasoning" | "cache" | "zdr" | "no_train" | readonly ("tools" | "json_schema" | "vision" | "audio" | "reasoning" | "cache" | "zdr" | "no_train")[];
      zdr?: "1";
      no_train?: "1";
      new?: "1";
      price_changed?: "1";
      status?: "active" | "deprecated";
      q?: string;
      sort?: "name" | "price" | "latency" | "popularity" | "newest";
    };
    body: undefined;
    answer: {
      object: "list";
      data: readonly ({
        id: string;
        object: "model";
        created: number;
        owned_by: string;
        vendor: string;
        name: string;
        aliases?: readonly (string)[];
        task: "generate" | "embed" | "rerank";
        modalities: {
          in: readonly ("text" | "image" | "audio" | "video")[];
          out: readonly ("text" | "image" | "audio" | "video")[];
        };
        context_length: number;
        max_output: number;
        pricing_from: {
          input: number;
          output: number;
          cache_read: number;
          search_unit?: number;
        };
        endpoints: number;
        status: "active" | "deprecated";
        markup_bps: number;
        capabilities: {
          tools: boolean;
          json_schema: boolean;
          vision: boolean;
          audio: boolean;
          reasoning: boolean;
          cache: boolean;
          zdr: boolean;
          no_train: boolean;
        };
        uptime_30d: number;
        ttft_p50_ms: number;
        requests_7d: number;
      })[];
    };
  };
  listPlans: {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: {
      data: readonly ({
        id: string;
        name: string;
        monthly_minor: number;
        currency: string;
        included_micro: number;
        limits: {
          rpm: number;
          tpm: number;
          concurrency: number;
          keys: number;
          projects: number;
        };
        features: {
          sso: boolean;
          priority_support: boolean;
        };
        description: string;
        public: boolean;
        sort: number;
      })[];
    };
  };
  listPolicies: {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: {
      object: "list";
      data: readonly ({
        name: string;
        version: number;
        status: "draft" | "active" | "retired";
        created_at: string;
        created_by: string;
        scopes: readonly ({
          project_id?: string;
        })[];
        newest: number;
        in_force: readonly ({
          version: number;
          project_id?: string;
          activated_at: string;
          activated_by: string;
        })[];
      })[];
    };
  };
  listPolicyNames: {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: {
      models: readonly (string)[];
      providers: readonly (string)[];
      regions: readonly (string)[];
      endpoints: readonly ({
        id: string;
        model_id: string;
        provider: string;
        region: string;
      })[];
    };
  };
  listPolicyVersions: {
    params: {
      name: string;
    };
    query: undefined;
    body: undefined;
    answer: {
      object: "list";
      data: readonly ({
        name: string;
        version: number;
        status: "draft" | "active" | "retired";
        created_at: string;
        created_by: string;
        scopes: readonly ({
          project_id?: string;
        })[];
        in_force: readonly ({
          version: number;
          project_id?: string;
          activated_at: string;
          activated_by: string;
        })[];
      })[];
    };
  };
  listProjects: {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: {
      object: "list";
      data: readonly ({
        id: string;
        org_id: string;
        slug: string;
        name: string;
        environment: "live" | "test";
        status: "active" | "deleted";
        budget: {
          monthly_micro: number;
          hard: boolean;
        };
        hold?: "full" | "fit";
        spend_today_micro: number;
        spend_month_micro: number;
        created_at: string;
      })[];
    };
  };
  listProviderKeys: {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: {
      object: "list";
      data: readonly ({
        id: string;
        provider: string;
        name: string;
        hint: string;
        platform_fallback: boolean;
        status: "active" | "unreadable";
        created_at: string;
      })[];
    };
  };
  listProviders: {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: {
      object: "list";
      data: readonly ({
        id: string;
        name: string;
        trains: boolean;
        retention_days: number;
        zdr: boolean;
        regions: readonly (string)[];
        status: "active" | "inactive";
        terms_url: string;
        endpoints: number;
        verified_at: string | null;
      })[];
      snapshot: string;
    };
  };
  listRefunds: {
    params: undefined;
    query: {
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    answer: {
      data: readonly ({
        id: string;
        org_id: string;
        topup_id: string;
        gateway: string;
        payment_ref: string;
        gateway_ref: string;
        currency: string;
        amount_minor: number;
        tax_minor: number;
        total_minor: number;
        fx_rate: string;
        credits_micro: number;
        credit_note_id?: string;
        status: "pending" | "refunded" | "failed";
        reason: string;
        failure?: string;
        created_at: string;
        settled_at?: string;
        replay?: boolean;
      })[];
      next_cursor: string;
    };
  };
  listRequests: {
    params: undefined;
    query: {
      since?: string;
      until?: string;
      project_id?: string;
      key_id?: string;
      app_id?: string;
      model?: string;
      provider?: string;
      status?: "ok" | "error" | "cancelled" | "rejected";
      errors_only?: "0" | "1" | "true" | "false";
      fallbacks_only?: "0" | "1" | "true" | "false";
      min_cost_micro?: number;
      max_cost_micro?: number;
      q?: string;
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    answer: {
      object: "list";
      data: readonly ({
        request_id: string;
        ts: string;
        project_id: string;
        key_id: string;
        model: string;
        provider: string;
        endpoint_id: string;
        region: string;
        status: "ok" | "error" | "cancelled" | "rejected";
        http_status: number;
        error_code: string;
        stop_reason: string;
        attempts: number;
        input_tokens: number;
        cache_read_tokens: number;
        output_tokens: number;
        usage_source: "provider" | "estimated" | "none";
        cost_micro: number;
        ttft_ms: number;
        duration_ms: number;
        stream: boolean;
        byok: boolean;
        zdr: boolean;
        logged: boolean;
        app_id: string;
        user_hash: string;
      })[];
      next_cursor: string;
      incomplete_since?: string;
    };
  };
  listScimLog: {
    params: undefined;
    query: {
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    answer: {
      object: "list";
      data: readonly ({
        id: string;
        ts: string;
        method: string;
        path: string;
        status: number;
        user_name: string;
        actor: string;
        error: string;
      })[];
      next_cursor: string;
    };
  };
  listSessions: {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: {
      object: "list";
      data: readonly ({
        id: string;
        created_at: string;
        ends_at: string;
        ip_prefix: string;
        user_agent: string;
        second_factor: boolean;
        current: boolean;
      })[];
    };
  };
  listShadows: {
    params: {
      name: string;
    };
    query: undefined;
    body: undefined;
    answer: {
      object: "list";
      data: readonly ({
        shadow_endpoint: string;
        primary_endpoint: string;
        policy_version: number;
        runs: number;
        errors: number;
        stop_mismatch: number;
        primary_cost_micro: number;
        shadow_cost_micro: number;
        cost_delta_micro: number;
        primary_ttft_ms: number | null;
        shadow_ttft_ms: number | null;
        bill: string;
        since: string;
        compared: number;
        confidence: number;
        error_rate: number;
        error_rate_interval: {
          low: number;
          high: number;
        };
        cost_delta_per_run_micro: number;
        cost_delta_per_run_micro_interval: {
          low: number;
          high: number;
        } | null;
        ttft_compared: number;
        ttft_delta_ms: number | null;
        ttft_delta_ms_interval: {
          low: number;
          high: number;
        } | null;
      })[];
    };
  };
  listTickets: {
    params: undefined;
    query: {
      kind?: "limit_increase" | "invoice_correction" | "refund" | "close_org" | "other";
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    answer: {
      object: "list";
      data: readonly ({
        id: string;
        org_id: string;
        kind: "limit_increase" | "invoice_correction" | "refund" | "close_org" | "other";
        status: "open" | "approved" | "rejected" | "closed";
        subject: string;
        body: Record<string, string | number | boolean>;
        created_by: string;
        created_at: string;
        answer?: string;
        decided_at?: string;
      })[];
      next_cursor: string;
    };
  };
  listTopups: {
    params: undefined;
    query: {
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    answer: {
      object: "list";
      data: readonly ({
        id: string;
        org_id: string;
        gateway: string;
        gateway_ref: string;
        payment_ref?: string;
        currency: string;
        amount_minor: number;
        tax_minor: number;
        total_minor: number;
        fee_minor: number;
        fx_rate: string;
        mid_rate: string;
        spread_bps: number;
        spread_minor: number;
        credits_micro: number;
        method: string;
        status: "pending" | "paid" | "failed" | "expired" | "partially_refunded" | "refunded" | "disputed";
        invoice_id?: string;
        source: "checkout" | "auto_topup" | "offline";
        refunded_minor: number;
        failure?: string;
        created_at: string;
        paid_at?: string;
        checkout_url?: string;
      })[];
      next_cursor: string;
    };
  };
  listWebhooks: {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: {
      object: "list";
      data: readonly ({
        id: string;
        org_id: string;
        url: string;
        events: readonly ("key.created" | "key.rotated" | "key.revoked" | "member.added" | "member.joined" | "member.removed" | "org.updated" | "org.closed" | "erasure.requested" | "erasure.done" | "limits.changed" | "ticket.decided" | "policy.activated" | "canary.red" | "endpoint.down" | "budget.exceeded" | "spend.spike" | "credits.low" | "credits.negative" | "topup.paid" | "topup.failed" | "topup.disputed" | "refund.settled" | "refund.failed" | "invoice.issued" | "auto_topup.notified" | "auto_topup.charged" | "auto_topup.failed" | "mandate.active" | "mandate.paused" | "mandate.failed" | "mandate.cancelled" | "subscription.changed" | "subscription.renewed" | "subscription.past_due" | "webhook.disabled" | "webhook.test")[];
        description: string;
        status: "active" | "disabled";
        disabled_reason?: "manual" | "gone" | "failing";
        previous_secret_until?: string;
        created_at: string;
        waiting: number;
        last_delivered_at?: string;
        failing_since?: string;
      })[];
    };
  };
  logout: {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: {
      logout_url: string;
    };
  };
  operatorAdjust: {
    params: {
      id: string;
    };
    query: undefined;
    body: {
      amount_micro_usd: number;
      reason: string;
      idempotency_key: string;
    };
    answer: {
      seq: number;
      kind: "grant" | "adjustment";
      amount_micro_usd: number;
      balance_micro_usd: number;
      created_at: string;
      replay: boolean;
    };
  };
  operatorBeginBackup: {
    params: undefined;
    query: undefined;
    body: {
      records: boolean;
    };
    answer: {
      id: string;
      frame: number;
      release: string;
      records: "embedded" | "server" | "none";
    };
  };
  operatorCheckProviderBill: {
    params: undefined;
    query: undefined;
    body: {
      provider: string;
      format?: "plain" | "openai" | "anthropic";
      csv?: string;
      json?: string;
      tolerance_bps?: number;
    };
    answer: {
      object: "provider_bill";
      provider: string;
      counts: {
        matched: number;
        drift: number;
        unbilled: number;
        unrecorded: number;
      };
      unpriced_requests: number;
      totals: {
        billed: {
          requests: number | null;
          input_tokens: number | null;
          output_tokens: number | null;
          cache_read_tokens: number | null;
          cache_write_tokens: number | null;
          cost_micro: number | null;
        };
        recorded: {
          requests: number | null;
          input_tokens: number | null;
          output_tokens: number | null;
          cache_read_tokens: number | null;
          cache_write_tokens: number | null;
          cost_micro: number | null;
        };
        drift: {
          requests: number | null;
          input_tokens: number | null;
          output_tokens: number | null;
          cache_read_tokens: number | null;
          cache_write_tokens: number | null;
          cost_micro: number | null;
        };
      };
      complete: boolean;
      data: readonly ({
        day: string;
        model: string;
        kind: "matched" | "drift" | "unbilled" | "unrecorded";
        billed: {
          requests: number | null;
          input_tokens: number | null;
          output_tokens: number | null;
          cache_read_tokens: number | null;
          cache_write_tokens: number | null;
          cost_micro: number | null;
        };
        recorded: {
          requests: number | null;
          input_tokens: number | null;
          output_tokens: number | null;
          cache_read_tokens: number | null;
          cache_write_tokens: number | null;
          cost_micro: number | null;
        };
        drift: {
          requests: number | null;
          input_tokens: number | null;
          output_tokens: number | null;
          cache_read_tokens: number | null;
          cache_write_tokens: number | null;
          cost_micro: number | null;
        };
        unpriced_requests: number;
        estimated_requests: number;
      })[];
      incomplete_since?: string;
    };
  };
  operatorClosePayment: {
    params: {
      id: string;
    };
    query: undefined;
    body: {
      outcome: string;
    };
    answer: {
      id: string;
      reason: "amount_differs" | "currency_differs" | "paid_twice" | "unknown_payment" | "refund_does_not_fit" | "refund_failed_late" | "fraud_warning" | "reconciliation";
      gateway: string;
      ref: string;
      org_id: string;
      topup_id: string;
      currency: string;
      amount_minor: number;
      detail: string;
      created_at: string;
      closed_at?: string;
      outcome?: string;
    };
  };
  operatorCreateAnalyticsUser: {
    params: undefined;
    query: undefined;
    body: {
      name: string;
      expires_in?: number;
      expires_at?: string;
    };
    answer: {
      id: string;
      object: "analytics_user";
      name: string;
      org_id: string;
      username: string;
      created_at: string;
      expires_at: string;
      password: string;
      url: string;
      database: string;
    };
  };
  operatorDecideTicket: {
    params: {
      id: string;
    };
    query: undefined;
    body: {
      status: "approved" | "rejected" | "closed";
      answer?: string;
      rpm?: number;
      refund?: {
        topup_id: string;
        amount_minor: number;
      };
    };
    answer: {
      id: string;
      org_id: string;
      kind: "limit_increase" | "invoice_correction" | "refund" | "close_org" | "other";
      status: "open" | "approved" | "rejected" | "closed";
      subject: string;
      body: Record<string, string | number | boolean>;
      created_by: string;
      created_at: string;
      answer?: string;
      decided_at?: string;
    };
  };
  operatorDeleteAnalyticsUser: {
    params: {
      id: string;
    };
    query: undefined;
    body: undefined;
    answer: undefined;
  };
  operatorDropJob: {
    params: {
      kind: string;
      key: string;
    };
    query: undefined;
    body: undefined;
    answer: undefined;
  };
  operatorExportInvoices: {
    params: undefined;
    query: {
      month?: string;
      format?: "csv" | "json" | "gstr1";
    };
    body: undefined;
    answer: string;
  };
  operatorFreezeBackup: {
    params: {
      id: string;
    };
    query: undefined;
    body: undefined;
    answer: {
      id: string;
      frozen: string | null;
    };
  };
  operatorGetAttention: {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: {
      object: "list";
      data: readonly ({
        kind: "credit_low" | "subscription_past_due" | "auto_topup_paused" | "auto_topup_failed" | "budget_used_up" | "budget_near" | "endpoint_down" | "canary_red" | "webhook_disabled" | "webhook_failing" | "key_expiring" | "cell_silent" | "ticket_open" | "payment_parked" | "books_differ" | "invoice_unregistered" | "job_given_up" | "calls_uncharged" | "provider_without_credential";
        severity: "critical" | "warning" | "info";
        title: string;
        subject: {
          type: "org" | "project" | "key" | "subscription" | "mandate" | "endpoint" | "policy" | "webhook" | "job" | "provider" | "ticket" | "payment" | "cell" | "installation";
          id: string;
          name: string;
        };
        since: string | null;
        details?: Record<string, string | number>;
        link?: string;
      })[];
      left_out: readonly ({
        kind: "credit_low" | "subscription_past_due" | "auto_topup_paused" | "auto_topup_failed" | "budget_used_up" | "budget_near" | "endpoint_down" | "canary_red" | "webhook_disabled" | "webhook_failing" | "key_expiring" | "cell_silent" | "ticket_open" | "payment_parked" | "books_differ" | "invoice_unregistered" | "job_given_up" | "calls_uncharged" | "provider_without_credential";
        count: number;
      })[];
    };
  };
  operatorGetOrg: {
    params: {
      id: string;
    };
    query: undefined;
    body: undefined;
    answer: {
      id: string;
      slug: string;
      name: string;
      kind: "personal" | "team" | "enterprise";
      billing_country: string;
      billing_currency: "INR" | "USD";
      legal_name: string;
      gstin: string;
      tax_id: string;
      tax_status: "unregistered" | "gst_registered" | "sez" | "overseas";
      plan_id: string;
      status: "active" | "suspended" | "closed";
      role?: "owner" | "admin" | "billing" | "member" | "viewer";
      billing_email: string;
      billing_address: {
        line1: string;
        city: string;
        state_code: string;
        postal_code: string;
        country: string;
      };
      settings: {
        security: {
          require_2fa: boolean;
          session_hours: number;
          console_ip_allow: readonly (string)[];
          key_default_expiry_days: number;
        };
        timezone: string;
        credits_low_micro?: number;
        budget?: {
          monthly_micro: number;
          hard: boolean;
          spike_alert_pct?: number;
        };
        hold?: "full" | "fit";
      };
      data_policy: {
        logging: "on" | "metadata" | "off";
        retention_days: number;
        zdr: boolean;
        no_train: boolean;
        regions: readonly (string)[];
        redact: {
          presets: readonly (string)[];
          patterns: readonly (string)[];
        };
      };
      created_at: string;
      closed_at?: string;
      erasure_requested_at?: string;
      erasure_due_at?: string;
      balance_micro_usd: number;
      members: number;
      projects: number;
    };
  };
  operatorGetProvider: {
    params: {
      id: string;
    };
    query: undefined;
    body: undefined;
    answer: {
      id: string;
      name: string;
      status: "active" | "inactive";
      switched_off: boolean;
      simulated: boolean;
      dialects: readonly (string)[];
      regions: readonly (string)[];
      missing: readonly (string)[];
      variables: readonly ({
        name: string;
        use: "credential" | "address";
        is_set: boolean;
        key_id?: string;
      })[];
      keys: readonly ({
        id: string;
        status: "ready" | "resting" | "refused";
        resting_at: number;
        until: string | null;
        why: "refused" | "forbidden" | "capacity" | null;
      })[];
      org_keys: number;
      models: number;
      endpoints: number;
      configured_endpoints: number;
      states: {
        healthy: number;
        degraded: number;
        failing: number;
        saturated: number;
        unknown: number;
      };
      refusals: readonly ({
        meaning: string;
        row: string;
        http_status: number;
        error_class: string;
        attempts: number;
        own_key_attempts: number;
        last_at: string;
        last_code: string;
      })[];
      cell: string;
      analytics: boolean;
      all_endpoints: readonly ({
        id: string;
        model: string;
        region: string;
        status: "active" | "inactive";
        state: "healthy" | "degraded" | "failing" | "saturated" | "unknown";
        error_rate: number;
        out_until: string | null;
        last_failure: string;
        down_since: string | null;
        ttft_ms: number | null;
        tokens_per_second: number | null;
        resting_keys: readonly ({
          key_id: string;
          until: string;
          why: "refused" | "forbidden" | "capacity";
        })[];
      })[];
    };
  };
  operatorGetReconciliation: {
    params: undefined;
    query: {
      day?: string;
      fresh?: "0" | "1" | "true" | "false";
    };
    body: undefined;
    answer: {
      object: "reconciliation";
      day: string;
      stored: boolean;
      ran_at: string;
      complete: boolean;
      balanced: boolean;
      counts: Record<string, number>;
      findings: readonly ({
        kind: "paid_not_credited" | "credited_not_paid" | "amount_differs" | "refund_unknown" | "refund_missing" | "dispute_unknown" | "no_ledger_entry" | "ledger_without_topup" | "ledger_without_refund" | "no_invoice" | "no_credit_note" | "invoice_without_payment" | "series_gap" | "balance_not_sum" | "parked_open" | "fee_differs";
        level: "fault" | "info";
        state: "open" | "healed" | "parked";
        meaning: string;
        org_id: string;
        gateway: string;
        ref: string;
        subject_id: string;
        currency: string;
        amount_minor: number;
        detail: string;
      })[];
      totals: {
        gateway_payments: readonly ({
          currency: "INR" | "USD";
          count: number;
          amount_minor: number;
          fee_minor: number;
        })[];
        gateway_refunds: readonly ({
          currency: "INR" | "USD";
          count: number;
          amount_minor: number;
          fee_minor: number;
        })[];
        gateway_disputes: readonly ({
          currency: "INR" | "USD";
          count: number;
          amount_minor: number;
          fee_minor: number;
        })[];
        gateway_settlements: readonly ({
          currency: "INR" | "USD";
          count: number;
          amount_minor: number;
          fee_minor: number;
        })[];
        topups: readonly ({
          currency: "INR" | "USD";
          count: number;
          amount_minor: number;
          fee_minor: number;
        })[];
        refunds: readonly ({
          currency: "INR" | "USD";
          count: number;
          amount_minor: number;
          fee_minor: number;
        })[];
        invoices: readonly ({
          currency: "INR" | "USD";
          count: number;
          amount_minor: number;
          fee_minor: number;
        })[];
        credit_notes: readonly ({
          currency: "INR" | "USD";
          count: number;
          amount_minor: number;
          fee_minor: number;
        })[];
      };
      ledger: {
        entries: number;
        orgs: number;
      };
    };
  };
  operatorGetUsage: {
    params: undefined;
    query: {
      range?: "24h" | "7d" | "30d" | "90d" | "custom";
      from?: string;
      to?: string;
      sort?: "cost" | "requests" | "bytes";
      limit?: number;
    };
    body: undefined;
    answer: {
      object: "operator_usage";
      range: {
        from: string;
        to: string;
      };
      incomplete_since?: string;
      totals: {
        requests: number;
        ok: number;
        errors: number;
        input_tokens: number;
        output_tokens: number;
        cache_read_tokens: number;
        cache_write_tokens: number;
        reasoning_tokens: number;
        cost_micro: number;
      };
      tables: readonly ({
        name: string;
        rows: number;
        bytes: number;
      })[];
      orgs: readonly ({
        org_id: string;
        requests: number;
        ok: number;
        errors: number;
        input_tokens: number;
        output_tokens: number;
        cache_read_tokens: number;
        cache_write_tokens: number;
        reasoning_tokens: number;
        cost_micro: number;
        stored: {
          records: number;
          record_bytes: number;
          payloads: number;
          payload_bytes: number;
        };
      })[];
    };
  };
  operatorGrant: {
    params: {
      id: string;
    };
    query: undefined;
    body: {
      amount_micro_usd: number;
      reason: string;
      idempotency_key: string;
    };
    answer: {
      seq: number;
      kind: "grant" | "adjustment";
      amount_micro_usd: number;
      balance_micro_usd: number;
      created_at: string;
      replay: boolean;
    };
  };
  operatorListAnalyticsUsers: {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: {
      object: "list";
      data: readonly ({
        id: string;
        object: "analytics_user";
        name: string;
        org_id: string;
        username: string;
        created_at: string;
        expires_at: string;
      })[];
      url?: string;
      database: string;
    };
  };
  operatorListCells: {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: {
      object: "list";
      version: number | null;
      data: readonly ({
        cell: string;
        status: "alive" | "silent" | "left" | "retired";
        life: number;
        version: number | null;
        silent_ms: number | null;
        awaited: boolean;
        leased_orgs: number;
        leased_micro_usd: number | null;
      })[];
    };
  };
  operatorListJobs: {
    params: undefined;
    query: {
      kind?: string;
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    answer: {
      object: "list";
      data: readonly ({
        kind: string;
        key: string;
        org_id: string;
        tries: number;
        error: string;
        created_at: string;
        given_up_at: string;
      })[];
      next_cursor: string;
    };
  };
  operatorListOrgs: {
    params: undefined;
    query: {
      q?: string;
      status?: "active" | "suspended" | "closed";
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    answer: {
      object: "list";
      data: readonly ({
        id: string;
        slug: string;
        name: string;
        kind: "personal" | "team" | "enterprise";
        billing_country: string;
        billing_currency: "INR" | "USD";
        legal_name: string;
        gstin: string;
        tax_id: string;
        tax_status: "unregistered" | "gst_registered" | "sez" | "overseas";
        plan_id: string;
        status: "active" | "suspended" | "closed";
        role?: "owner" | "admin" | "billing" | "member" | "viewer";
        billing_email: string;
        billing_address: {
          line1: string;
          city: string;
          state_code: string;
          postal_code: string;
          country: string;
        };
        settings: {
          security: {
            require_2fa: boolean;
            session_hours: number;
            console_ip_allow: readonly (string)[];
            key_default_expiry_days: number;
          };
          timezone: string;
          credits_low_micro?: number;
          budget?: {
            monthly_micro: number;
            hard: boolean;
            spike_alert_pct?: number;
          };
          hold?: "full" | "fit";
        };
        data_policy: {
          logging: "on" | "metadata" | "off";
          retention_days: number;
          zdr: boolean;
          no_train: boolean;
          regions: readonly (string)[];
          redact: {
            presets: readonly (string)[];
            patterns: readonly (string)[];
          };
        };
        created_at: string;
        closed_at?: string;
        erasure_requested_at?: string;
        erasure_due_at?: string;
      })[];
      next_cursor: string;
    };
  };
  operatorListPayments: {
    params: undefined;
    query: {
      status?: "open" | "closed";
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    answer: {
      object: "list";
      data: readonly ({
        id: string;
        reason: "amount_differs" | "currency_differs" | "paid_twice" | "unknown_payment" | "refund_does_not_fit" | "refund_failed_late" | "fraud_warning" | "reconciliation";
        gateway: string;
        ref: string;
        org_id: string;
        topup_id: string;
        currency: string;
        amount_minor: number;
        detail: string;
        created_at: string;
        closed_at?: string;
        outcome?: string;
      })[];
      next_cursor: string;
    };
  };
  operatorListPlanOrgs: {
    params: {
      id: string;
    };
    query: {
      raised?: string;
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    answer: {
      object: "list";
      data: readonly ({
        id: string;
        slug: string;
        name: string;
        status: "active" | "suspended" | "closed";
        raised: readonly ({
          key_id: string;
          name: string;
          rpm: number;
        })[];
      })[];
      next_cursor: string;
    };
  };
  operatorListPlans: {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: {
      object: "list";
      data: readonly ({
        id: string;
        default: boolean;
        rpm: number;
        tpm: number;
        concurrency: number;
        keys: number;
        projects: number;
        auto_approve: number;
        features: {
          sso: boolean;
          priority_support: boolean;
        };
        orgs: number;
      })[];
    };
  };
  operatorListProviders: {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: {
      object: "list";
      data: readonly ({
        id: string;
        name: string;
        status: "active" | "inactive";
        switched_off: boolean;
        simulated: boolean;
        dialects: readonly (string)[];
        regions: readonly (string)[];
        missing: readonly (string)[];
        variables: readonly ({
          name: string;
          use: "credential" | "address";
          is_set: boolean;
          key_id?: string;
        })[];
        keys: readonly ({
          id: string;
          status: "ready" | "resting" | "refused";
          resting_at: number;
          until: string | null;
          why: "refused" | "forbidden" | "capacity" | null;
        })[];
        org_keys: number;
        models: number;
        endpoints: number;
        configured_endpoints: number;
        states: {
          healthy: number;
          degraded: number;
          failing: number;
          saturated: number;
          unknown: number;
        };
        troubled: readonly ({
          id: string;
          model: string;
          region: string;
          status: "active" | "inactive";
          state: "healthy" | "degraded" | "failing" | "saturated" | "unknown";
          error_rate: number;
          out_until: string | null;
          last_failure: string;
          down_since: string | null;
          ttft_ms: number | null;
          tokens_per_second: number | null;
          resting_keys: readonly ({
            key_id: string;
            until: string;
            why: "refused" | "forbidden" | "capacity";
          })[];
        })[];
        refusals: readonly ({
          meaning: string;
          row: string;
          http_status: number;
          error_class: string;
          attempts: number;
          own_key_attempts: number;
          last_at: string;
          last_code: string;
        })[];
      })[];
      cell: string;
      analytics: boolean;
    };
  };
  operatorListTickets: {
    params: undefined;
    query: {
      kind?: "limit_increase" | "invoice_correction" | "refund" | "close_org" | "other";
      limit?: number;
      cursor?: string;
      status?: "open" | "approved" | "rejected" | "closed";
      org_id?: string;
    };
    body: undefined;
    answer: {
      object: "list";
      data: readonly ({
        id: string;
        org_id: string;
        kind: "limit_increase" | "invoice_correction" | "refund" | "close_org" | "other";
        status: "open" | "approved" | "rejected" | "closed";
        subject: string;
        body: Record<string, string | number | boolean>;
        created_by: string;
        created_at: string;
        answer?: string;
        decided_at?: string;
      })[];
      next_cursor: string;
    };
  };
  operatorListTopups: {
    params: {
      id: string;
    };
    query: {
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    answer: {
      object: "list";
      data: readonly ({
        id: string;
        org_id: string;
        gateway: string;
        gateway_ref: string;
        payment_ref?: string;
        currency: string;
        amount_minor: number;
        tax_minor: number;
        total_minor: number;
        fee_minor: number;
        fx_rate: string;
        mid_rate: string;
        spread_bps: number;
        spread_minor: number;
        credits_micro: number;
        method: string;
        status: "pending" | "paid" | "failed" | "expired" | "partially_refunded" | "refunded" | "disputed";
        invoice_id?: string;
        source: "checkout" | "auto_topup" | "offline";
        refunded_minor: number;
        failure?: string;
        created_at: string;
        paid_at?: string;
        checkout_url?: string;
        refundable_minor: number;
      })[];
      next_cursor: string;
    };
  };
  operatorListUncharged: {
    params: undefined;
    query: {
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    answer: {
      object: "list";
      data: readonly ({
        org_id: string;
        request_id: string;
        amount_micro_usd: number;
        settled_at: string;
      })[];
      next_cursor: string;
    };
  };
  operatorListUnregistered: {
    params: undefined;
    query: {
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    answer: {
      object: "list";
      data: readonly ({
        id: string;
        org_id: string;
        number: string;
        issued_at: string;
        irn_status: "pending" | "failed";
        overdue: boolean;
      })[];
      next_cursor: string;
    };
  };
  operatorRecordPayment: {
    params: {
      id: string;
    };
    query: undefined;
    body: {
      amount_minor: number;
      reference: string;
      reason: string;
    };
    answer: {
      id: string;
      org_id: string;
      gateway: string;
      gateway_ref: string;
      payment_ref?: string;
      currency: string;
      amount_minor: number;
      tax_minor: number;
      total_minor: number;
      fee_minor: number;
      fx_rate: string;
      mid_rate: string;
      spread_bps: number;
      spread_minor: number;
      credits_micro: number;
      method: string;
      status: "pending" | "paid" | "failed" | "expired" | "partially_refunded" | "refunded" | "disputed";
      invoice_id?: string;
      source: "checkout" | "auto_topup" | "offline";
      refunded_minor: number;
      failure?: string;
      created_at: string;
      paid_at?: string;
      checkout_url?: string;
    };
  };
  operatorResumeOrg: {
    params: {
      id: string;
    };
    query: undefined;
    body: {
      reason: string;
    };
    answer: {
      id: string;
      slug: string;
      name: string;
      kind: "personal" | "team" | "enterprise";
      billing_country: string;
      billing_currency: "INR" | "USD";
      legal_name: string;
      gstin: string;
      tax_id: string;
      tax_status: "unregistered" | "gst_registered" | "sez" | "overseas";
      plan_id: string;
      status: "active" | "suspended" | "closed";
      role?: "owner" | "admin" | "billing" | "member" | "viewer";
      billing_email: string;
      billing_address: {
        line1: string;
        city: string;
        state_code: string;
        postal_code: string;
        country: string;
      };
      settings: {
        security: {
          require_2fa: boolean;
          session_hours: number;
          console_ip_allow: readonly (string)[];
          key_default_expiry_days: number;
        };
        timezone: string;
        credits_low_micro?: number;
        budget?: {
          monthly_micro: number;
          hard: boolean;
          spike_alert_pct?: number;
        };
        hold?: "full" | "fit";
      };
      data_policy: {
        logging: "on" | "metadata" | "off";
        retention_days: number;
        zdr: boolean;
        no_train: boolean;
        regions: readonly (string)[];
        redact: {
          presets: readonly (string)[];
          patterns: readonly (string)[];
        };
      };
      created_at: string;
      closed_at?: string;
      erasure_requested_at?: string;
      erasure_due_at?: string;
      balance_micro_usd: number;
      members: number;
      projects: number;
    };
  };
  operatorRetireCell: {
    params: {
      cell: string;
    };
    query: undefined;
    body: undefined;
    answer: {
      cell: string;
      status: "retired";
    };
  };
  operatorRetryJob: {
    params: {
      kind: string;
      key: string;
    };
    query: undefined;
    body: undefined;
    answer: {
      kind: string;
      key: string;
      status: "waiting";
    };
  };
  operatorRunReconciliation: {
    params: undefined;
    query: undefined;
    body: {
      day?: string;
    };
    answer: {
      object: "reconciliation";
      day: string;
      stored: boolean;
      ran_at: string;
      complete: boolean;
      balanced: boolean;
      counts: Record<string, number>;
      findings: readonly ({
        kind: "paid_not_credited" | "credited_not_paid" | "amount_differs" | "refund_unknown" | "refund_missing" | "dispute_unknown" | "no_ledger_entry" | "ledger_without_topup" | "ledger_without_refund" | "no_invoice" | "no_credit_note" | "invoice_without_payment" | "series_gap" | "balance_not_sum" | "parked_open" | "fee_differs";
        level: "fault" | "info";
        state: "open" | "healed" | "parked";
        meaning: string;
        org_id: string;
        gateway: string;
        ref: string;
        subject_id: string;
        currency: string;
        amount_minor: number;
        detail: string;
      })[];
      totals: {
        gateway_payments: readonly ({
          currency: "INR" | "USD";
          count: number;
          amount_minor: number;
          fee_minor: number;
        })[];
        gateway_refunds: readonly ({
          currency: "INR" | "USD";
          count: number;
          amount_minor: number;
          fee_minor: number;
        })[];
        gateway_disputes: readonly ({
          currency: "INR" | "USD";
          count: number;
          amount_minor: number;
          fee_minor: number;
        })[];
        gateway_settlements: readonly ({
          currency: "INR" | "USD";
          count: number;
          amount_minor: number;
          fee_minor: number;
        })[];
        topups: readonly ({
          currency: "INR" | "USD";
          count: number;
          amount_minor: number;
          fee_minor: number;
        })[];
        refunds: readonly ({
          currency: "INR" | "USD";
          count: number;
          amount_minor: number;
          fee_minor: number;
        })[];
        invoices: readonly ({
          currency: "INR" | "USD";
          count: number;
          amount_minor: number;
          fee_minor: number;
        })[];
        credit_notes: readonly ({
          currency: "INR" | "USD";
          count: number;
          amount_minor: number;
          fee_minor: number;
        })[];
      };
      ledger: {
        entries: number;
        orgs: number;
      };
    };
  };
  operatorSumUsage: {
    params: undefined;
    query: {
      range?: "24h" | "7d" | "30d" | "90d" | "custom";
      from?: string;
      to?: string;
      granularity?: "hour" | "day";
      group_by?: "org" | "model" | "provider";
      compare?: "0" | "1" | "true" | "false";
      model?: string;
      provider?: string;
      org_id?: string;
      limit?: number;
    };
    body: undefined;
    answer: {
      object: "usage";
      range: {
        from: string;
        to: string;
        granularity: "hour" | "day";
      };
      group_by: string;
      totals: {
        requests: number;
        ok: number;
        errors: number;
        input_tokens: number;
        output_tokens: number;
        cache_read_tokens: number;
        cache_write_tokens: number;
        reasoning_tokens: number;
        cost_micro: number;
        latency: {
          ttft_p50_ms: number | null;
          ttft_p95_ms: number | null;
          duration_p50_ms: number | null;
          duration_p95_ms: number | null;
        };
        cache_share: number | null;
      };
      series: readonly ({
        requests: number;
        ok: number;
        errors: number;
        input_tokens: number;
        output_tokens: number;
        cache_read_tokens: number;
        cache_write_tokens: number;
        reasoning_tokens: number;
        cost_micro: number;
        latency: {
          ttft_p50_ms: number | null;
          ttft_p95_ms: number | null;
          duration_p50_ms: number | null;
          duration_p95_ms: number | null;
        };
        cache_share: number | null;
        bucket: string;
      })[];
      groups: readonly ({
        requests: number;
        ok: number;
        errors: number;
        input_tokens: number;
        output_tokens: number;
        cache_read_tokens: number;
        cache_write_tokens: number;
        reasoning_tokens: number;
        cost_micro: number;
        latency: {
          ttft_p50_ms: number | null;
          ttft_p95_ms: number | null;
          duration_p50_ms: number | null;
          duration_p95_ms: number | null;
        };
        cache_share: number | null;
        key: string;
        name: string;
        hint?: string;
      })[];
      groups_total: number;
      groups_more: boolean;
      incomplete_since?: string;
      compare?: {
        range: {
          from: string;
          to: string;
        };
        totals: {
          requests: number;
          ok: number;
          errors: number;
          input_tokens: number;
          output_tokens: number;
          cache_read_tokens: number;
          cache_write_tokens: number;
          reasoning_tokens: number;
          cost_micro: number;
          latency: {
            ttft_p50_ms: number | null;
            ttft_p95_ms: number | null;
            duration_p50_ms: number | null;
            duration_p95_ms: number | null;
          };
          cache_share: number | null;
        };
        series: readonly ({
          requests: number;
          ok: number;
          errors: number;
          input_tokens: number;
          output_tokens: number;
          cache_read_tokens: number;
          cache_write_tokens: number;
          reasoning_tokens: number;
          cost_micro: number;
          latency: {
            ttft_p50_ms: number | null;
            ttft_p95_ms: number | null;
            duration_p50_ms: number | null;
            duration_p95_ms: number | null;
          };
          cache_share: number | null;
          bucket: string;
        })[];
      };
    };
  };
  operatorSuspendOrg: {
    params: {
      id: string;
    };
    query: undefined;
    body: {
      reason: string;
    };
    answer: {
      id: string;
      slug: string;
      name: string;
      kind: "personal" | "team" | "enterprise";
      billing_country: string;
      billing_currency: "INR" | "USD";
      legal_name: string;
      gstin: string;
      tax_id: string;
      tax_status: "unregistered" | "gst_registered" | "sez" | "overseas";
      plan_id: string;
      status: "active" | "suspended" | "closed";
      role?: "owner" | "admin" | "billing" | "member" | "viewer";
      billing_email: string;
      billing_address: {
        line1: string;
        city: string;
        state_code: string;
        postal_code: string;
        country: string;
      };
      settings: {
        security: {
          require_2fa: boolean;
          session_hours: number;
          console_ip_allow: readonly (string)[];
          key_default_expiry_days: number;
        };
        timezone: string;
        credits_low_micro?: number;
        budget?: {
          monthly_micro: number;
          hard: boolean;
          spike_alert_pct?: number;
        };
        hold?: "full" | "fit";
      };
      data_policy: {
        logging: "on" | "metadata" | "off";
        retention_days: number;
        zdr: boolean;
        no_train: boolean;
        regions: readonly (string)[];
        redact: {
          presets: readonly (string)[];
          patterns: readonly (string)[];
        };
      };
      created_at: string;
      closed_at?: string;
      erasure_requested_at?: string;
      erasure_due_at?: string;
      balance_micro_usd: number;
      members: number;
      projects: number;
    };
  };
  previewRedaction: {
    params: undefined;
    query: undefined;
    body: {
      presets?: readonly ("api_key" | "card" | "aadhaar" | "pan" | "email" | "phone")[];
      patterns?: readonly (string)[];
      sample: string;
    };
    answer: {
      input: string;
      output: string;
      redactions: number;
      parts: readonly ({
        text: string;
        rule?: "api_key" | "card" | "aadhaar" | "pan" | "email" | "phone" | "pattern";
        pattern?: number;
        found?: string;
      })[];
      presets: readonly ("api_key" | "card" | "aadhaar" | "pan" | "email" | "phone")[];
    };
  };
  quoteRefund: {
    params: {
      id: string;
    };
    query: {
      amount_minor?: number;
    };
    body: undefined;
    answer: {
      currency: "INR" | "USD";
      refundable_minor: number;
      bar?: string;
      amount_minor: number;
      tax_minor: number;
      total_minor: number;
      credits_micro: number;
    };
  };
  quoteSubscription: {
    params: undefined;
    query: {
      plan_id: string;
      effective?: "now" | "period_end";
    };
    body: undefined;
    answer: {
      plan: {
        id: string;
        name: string;
        monthly_minor: number;
        currency: string;
        included_micro: number;
        limits: {
          rpm: number;
          tpm: number;
          concurrency: number;
          keys: number;
          projects: number;
        };
        features: {
          sso: boolean;
          priority_support: boolean;
        };
        description: string;
        public: boolean;
        sort: number;
      };
      subscription: {
        org_id: string;
        plan_id: string;
        status: "active" | "past_due" | "cancelled";
        period_start: string;
        period_end: string;
        started_at: string;
        next_plan_id?: string;
      };
      changes: boolean;
      effective: "now" | "period_end";
      effective_at: string;
      currency: "INR" | "USD";
      fee_minor: number;
      lines: readonly ({
        description: string;
        amount_minor: number;
      })[];
      fee_micro: number;
      included_micro: number;
      prorated_bps: number;
      available_micro: number;
      available_after_micro: number;
      missing_micro: number;
    };
  };
  quoteTopup: {
    params: undefined;
    query: {
      amount_minor: number;
    };
    body: undefined;
    answer: {
      rail: string;
      currency: string;
      amount_minor: number;
      tax_minor: number;
      total_minor: number;
      credits_micro: number;
      fx_rate: string;
      mid_rate: string;
      spread_bps: number;
      spread_minor: number;
      fx_day: string;
      parts: readonly ({
        kind: "credit" | "spread" | "fees" | "cgst" | "sgst" | "igst";
        minor: number;
        bps?: number;
      })[];
      fees: {
        rail: string;
        items: readonly ({
          method: string;
          bps: number;
          fixed_minor?: number;
          note?: string;
        })[];
      };
      min_amount_minor: number;
      display: string;
    };
  };
  readCallStream: {
    params: {
      id: string;
    };
    query: undefined;
    body: undefined;
    answer: Record<string, unknown>;
  };
  redeliver: {
    params: {
      id: string;
      delivery: string;
    };
    query: undefined;
    body: undefined;
    answer: {
      id: string;
      event_id: string;
      type: "key.created" | "key.rotated" | "key.revoked" | "member.added" | "member.joined" | "member.removed" | "org.updated" | "org.closed" | "erasure.requested" | "erasure.done" | "limits.changed" | "ticket.decided" | "policy.activated" | "canary.red" | "endpoint.down" | "budget.exceeded" | "spend.spike" | "credits.low" | "credits.negative" | "topup.paid" | "topup.failed" | "topup.disputed" | "refund.settled" | "refund.failed" | "invoice.issued" | "auto_topup.notified" | "auto_topup.charged" | "auto_topup.failed" | "mandate.active" | "mandate.paused" | "mandate.failed" | "mandate.cancelled" | "subscription.changed" | "subscription.renewed" | "subscription.past_due" | "webhook.disabled" | "webhook.test";
      attempt: number;
      status: "pending" | "delivered" | "failed";
      http_status: number;
      duration_ms: number;
      response: string;
      error: string;
      request?: string;
      headers?: Record<string, string>;
      created_at: string;
      attempted_at?: string;
      next_at?: string;
    };
  };
  refundTopup: {
    params: {
      id: string;
    };
    query: undefined;
    body: {
      amount_minor: number;
      reason?: string;
      idempotency_key: string;
    };
    answer: {
      refund: {
        id: string;
        org_id: string;
        topup_id: string;
        gateway: string;
        payment_ref: string;
        gateway_ref: string;
        currency: string;
        amount_minor: number;
        tax_minor: number;
        total_minor: number;
        fx_rate: string;
        credits_micro: number;
        credit_note_id?: string;
        status: "pending" | "refunded" | "failed";
        reason: string;
        failure?: string;
        created_at: string;
        settled_at?: string;
        replay?: boolean;
      };
    };
  };
  removeMember: {
    params: {
      org: string;
      user: string;
    };
    query: {
      revoke_keys?: string;
    };
    body: undefined;
    answer: undefined;
  };
  requestErasure: {
    params: {
      org: string;
    };
    query: undefined;
    body: undefined;
    answer: {
      id: string;
      slug: string;
      name: string;
      kind: "personal" | "team" | "enterprise";
      billing_country: string;
      billing_currency: "INR" | "USD";
      legal_name: string;
      gstin: string;
      tax_id: string;
      tax_status: "unregistered" | "gst_registered" | "sez" | "overseas";
      plan_id: string;
      status: "active" | "suspended" | "closed";
      role?: "owner" | "admin" | "billing" | "member" | "viewer";
      billing_email: string;
      billing_address: {
        line1: string;
        city: string;
        state_code: string;
        postal_code: string;
        country: string;
      };
      settings: {
        security: {
          require_2fa: boolean;
          session_hours: number;
          console_ip_allow: readonly (string)[];
          key_default_expiry_days: number;
        };
        timezone: string;
        credits_low_micro?: number;
        budget?: {
          monthly_micro: number;
          hard: boolean;
          spike_alert_pct?: number;
        };
        hold?: "full" | "fit";
      };
      data_policy: {
        logging: "on" | "metadata" | "off";
        retention_days: number;
        zdr: boolean;
        no_train: boolean;
        regions: readonly (string)[];
        redact: {
          presets: readonly (string)[];
          patterns: readonly (string)[];
        };
      };
      created_at: string;
      closed_at?: string;
      erasure_requested_at?: string;
      erasure_due_at?: string;
    };
  };
  requestLimits: {
    params: undefined;
    query: undefined;
    body: {
      key_id: string;
      rpm: number;
      reason?: string;
    };
    answer: {
      status: "open" | "approved" | "rejected" | "closed";
      applied: {
        rpm: number;
        tpm: number;
        concurrency: number;
      };
      ticket: {
        id: string;
        org_id: string;
        kind: "limit_increase" | "invoice_correction" | "refund" | "close_org" | "other";
        status: "open" | "approved" | "rejected" | "closed";
        subject: string;
        body: Record<string, string | number | boolean>;
        created_by: string;
        created_at: string;
        answer?: string;
        decided_at?: string;
      };
    };
  };
  resendInvoice: {
    params: {
      id: string;
    };
    query: undefined;
    body: {
      to: string;
    };
    answer: {
      queued: boolean;
      to: string;
    };
  };
  revokeKey: {
    params: {
      id: string;
    };
    query: undefined;
    body: undefined;
    answer: {
      id: string;
      project_id: string;
      name: string;
      hint: string;
      kind?: "playground";
      environment: "live" | "test";
      scopes: readonly ("inference" | "read:usage" | "read:catalog" | "read:billing" | "write:billing" | "read:keys" | "write:keys" | "read:org" | "write:org" | "read:policies" | "write:policies" | "read:payloads")[];
      status: "active" | "rotating" | "revoked" | "expired";
      limits: {
        rpm?: number;
        tpm?: number;
        concurrency?: number;
      };
      budget: {
        daily_micro: number;
        hard: boolean;
      };
      on_disconnect: "cancel" | "drain" | "detach";
      hold?: "full" | "fit";
      svc_version: string;
      created_at: string;
      created_by?: string;
      last_used_at?: string;
      lineage_id?: string;
      expires_at?: string;
      revoked_at?: string;
    };
  };
  revokeScimToken: {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: undefined;
  };
  rotateKey: {
    params: {
      id: string;
    };
    query: undefined;
    body: {
      grace_seconds?: number;
    };
    answer: {
      id: string;
      project_id: string;
      name: string;
      hint: string;
      kind?: "playground";
      environment: "live" | "test";
      scopes: readonly ("inference" | "read:usage" | "read:catalog" | "read:billing" | "write:billing" | "read:keys" | "write:keys" | "read:org" | "write:org" | "read:policies" | "write:policies" | "read:payloads")[];
      status: "active" | "rotating" | "revoked" | "expired";
      limits: {
        rpm?: number;
        tpm?: number;
        concurrency?: number;
      };
      budget: {
        daily_micro: number;
        hard: boolean;
      };
      on_disconnect: "cancel" | "drain" | "detach";
      hold?: "full" | "fit";
      svc_version: string;
      created_at: string;
      created_by?: string;
      last_used_at?: string;
      lineage_id?: string;
      expires_at?: string;
      revoked_at?: string;
      secret: string;
      rotated_from: string;
    };
  };
  rotateReceiptKey: {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: {
      kid: string;
    };
  };
  rotateWebhook: {
    params: {
      id: string;
    };
    query: undefined;
    body: undefined;
    answer: {
      id: string;
      org_id: string;
      url: string;
      events: readonly ("key.created" | "key.rotated" | "key.revoked" | "member.added" | "member.joined" | "member.removed" | "org.updated" | "org.closed" | "erasure.requested" | "erasure.done" | "limits.changed" | "ticket.decided" | "policy.activated" | "canary.red" | "endpoint.down" | "budget.exceeded" | "spend.spike" | "credits.low" | "credits.negative" | "topup.paid" | "topup.failed" | "topup.disputed" | "refund.settled" | "refund.failed" | "invoice.issued" | "auto_topup.notified" | "auto_topup.charged" | "auto_topup.failed" | "mandate.active" | "mandate.paused" | "mandate.failed" | "mandate.cancelled" | "subscription.changed" | "subscription.renewed" | "subscription.past_due" | "webhook.disabled" | "webhook.test")[];
      description: string;
      status: "active" | "disabled";
      disabled_reason?: "manual" | "gone" | "failing";
      previous_secret_until?: string;
      created_at: string;
      secret: string;
    };
  };
  setActiveOrg: {
    params: undefined;
    query: undefined;
    body: {
      org: string;
    };
    answer: {
      active_org: string;
      role: "owner" | "admin" | "billing" | "member" | "viewer";
    };
  };
  setAutoTopup: {
    params: undefined;
    query: undefined;
    body: {
      enabled: boolean;
      threshold_micro: number;
      amount_minor: number;
    };
    answer: {
      mandate: {
        id: string;
        org_id: string;
        gateway: string;
        method: string;
        mandate_ref: string;
        token_ref: string;
        max_amount_minor: number;
        currency: string;
        status: "pending" | "active" | "paused" | "failed" | "cancelled";
        pause_reason?: "failures" | "declined" | "dispute" | "bank" | "mismatch";
        auto_topup: {
          enabled: boolean;
          threshold_micro: number;
          amount_minor: number;
        };
        notify_hours: number;
        consecutive_failures: number;
        registered_at?: string;
        created_at: string;
        cancelled_at?: string;
        hosted_url?: string;
      } | null;
      registering: {
        id: string;
        org_id: string;
        gateway: string;
        method: string;
        mandate_ref: string;
        token_ref: string;
        max_amount_minor: number;
        currency: string;
        status: "pending" | "active" | "paused" | "failed" | "cancelled";
        pause_reason?: "failures" | "declined" | "dispute" | "bank" | "mismatch";
        auto_topup: {
          enabled: boolean;
          threshold_micro: number;
          amount_minor: number;
        };
        notify_hours: number;
        consecutive_failures: number;
        registered_at?: string;
        created_at: string;
        cancelled_at?: string;
        hosted_url?: string;
      } | null;
      config: {
        enabled: boolean;
        threshold_micro: number;
        amount_minor: number;
      };
      debit: {
        status: "announced" | "under_way";
        currency: "INR" | "USD";
        total_minor: number;
        due_at: string;
        topup_id?: string;
      } | null;
      next_try_at?: string;
      rail: string;
      methods: readonly ("upi" | "emandate" | "card" | "link" | "ach_debit")[];
      cap_minor: number;
      notify_hours: number;
      currency: "INR" | "USD";
      min_amount_minor: number;
    };
  };
  testWebhook: {
    params: {
      id: string;
    };
    query: undefined;
    body: undefined;
    answer: {
      id: string;
      event_id: string;
      type: "key.created" | "key.rotated" | "key.revoked" | "member.added" | "member.joined" | "member.removed" | "org.updated" | "org.closed" | "erasure.requested" | "erasure.done" | "limits.changed" | "ticket.decided" | "policy.activated" | "canary.red" | "endpoint.down" | "budget.exceeded" | "spend.spike" | "credits.low" | "credits.negative" | "topup.paid" | "topup.failed" | "topup.disputed" | "refund.settled" | "refund.failed" | "invoice.issued" | "auto_topup.notified" | "auto_topup.charged" | "auto_topup.failed" | "mandate.active" | "mandate.paused" | "mandate.failed" | "mandate.cancelled" | "subscription.changed" | "subscription.renewed" | "subscription.past_due" | "webhook.disabled" | "webhook.test";
      attempt: number;
      status: "pending" | "delivered" | "failed";
      http_status: number;
      duration_ms: number;
      response: string;
      error: string;
      request?: string;
      headers?: Record<string, string>;
      created_at: string;
      attempted_at?: string;
      next_at?: string;
    };
  };
  transferOrg: {
    params: {
      org: string;
    };
    query: undefined;
    body: {
      user_id: string;
    };
    answer: {
      owner: string;
      previous_owner_role: "owner" | "admin" | "billing" | "member" | "viewer";
    };
  };
  updateApp: {
    params: {
      slug: string;
    };
    query: undefined;
    body: {
      name?: string;
      category?: "agents" | "assistant" | "coding" | "customer_support" | "data_analysis" | "education" | "games" | "image_video" | "marketing" | "productivity" | "research" | "writing" | "other";
      url?: string;
      public?: boolean;
    };
    answer: {
      slug: string;
      name: string;
      category: string;
      url: string;
      public: boolean;
      created_at: string;
    };
  };
  updateKey: {
    params: {
      id: string;
    };
    query: undefined;
    body: {
      name?: string;
      scopes?: readonly ("inference" | "read:usage" | "read:catalog" | "read:billing" | "write:billing" | "read:keys" | "write:keys" | "read:org" | "write:org" | "read:policies" | "write:policies" | "read:payloads")[];
      limits?: {
        rpm?: number | null;
        tpm?: number | null;
        concurrency?: number | null;
      };
      budget?: {
        daily_micro?: number | null;
        hard?: boolean;
      };
      expires_in?: string | null;
      on_disconnect?: "cancel" | "drain" | "detach";
      hold?: "full" | "fit" | null;
      svc_version?: string;
    };
    answer: {
      id: string;
      project_id: string;
      name: string;
      hint: string;
      kind?: "playground";
      environment: "live" | "test";
      scopes: readonly ("inference" | "read:usage" | "read:catalog" | "read:billing" | "write:billing" | "read:keys" | "write:keys" | "read:org" | "write:org" | "read:policies" | "write:policies" | "read:payloads")[];
      status: "active" | "rotating" | "revoked" | "expired";
      limits: {
        rpm?: number;
        tpm?: number;
        concurrency?: number;
      };
      budget: {
        daily_micro: number;
        hard: boolean;
      };
      on_disconnect: "cancel" | "drain" | "detach";
      hold?: "full" | "fit";
      svc_version: string;
      created_at: string;
      created_by?: string;
      last_used_at?: string;
      lineage_id?: string;
      expires_at?: string;
      revoked_at?: string;
    };
  };
  updateMember: {
    params: {
      org: string;
      user: string;
    };
    query: undefined;
    body: {
      role: "owner" | "admin" | "billing" | "member" | "viewer";
    };
    answer: {
      org_id: string;
      user_id: string;
      role: "owner" | "admin" | "billing" | "member" | "viewer";
    };
  };
  updateOrg: {
    params: {
      org: string;
    };
    query: undefined;
    body: {
      name?: string;
      billing_country?: string;
      legal_name?: string;
      gstin?: string;
      tax_id?: string;
      tax_status?: "unregistered" | "gst_registered" | "sez" | "overseas";
      billing_email?: string;
      billing_address?: {
        line1?: string;
        city?: string;
        state_code?: string;
        postal_code?: string;
        country?: string;
      };
      settings?: {
        security?: {
          require_2fa?: boolean;
          session_hours?: number;
          console_ip_allow?: readonly (string)[];
          key_default_expiry_days?: number;
        };
        timezone?: string;
        credits_low_micro?: number | null;
        budget?: {
          monthly_micro?: number | null;
          hard?: boolean;
          spike_alert_pct?: number | null;
        };
        hold?: "full" | "fit" | null;
      };
      data_policy?: {
        logging?: "on" | "metadata" | "off";
        retention_days?: number;
        zdr?: boolean;
        no_train?: boolean;
        regions?: readonly (string)[];
        redact?: {
          presets?: readonly ("api_key" | "card" | "aadhaar" | "pan" | "email" | "phone")[];
          patterns?: readonly (string)[];
        };
      };
    };
    answer: {
      id: string;
      slug: string;
      name: string;
      kind: "personal" | "team" | "enterprise";
      billing_country: string;
      billing_currency: "INR" | "USD";
      legal_name: string;
      gstin: string;
      tax_id: string;
      tax_status: "unregistered" | "gst_registered" | "sez" | "overseas";
      plan_id: string;
      status: "active" | "suspended" | "closed";
      role?: "owner" | "admin" | "billing" | "member" | "viewer";
      billing_email: string;
      billing_address: {
        line1: string;
        city: string;
        state_code: string;
        postal_code: string;
        country: string;
      };
      settings: {
        security: {
          require_2fa: boolean;
          session_hours: number;
          console_ip_allow: readonly (string)[];
          key_default_expiry_days: number;
        };
        timezone: string;
        credits_low_micro?: number;
        budget?: {
          monthly_micro: number;
          hard: boolean;
          spike_alert_pct?: number;
        };
        hold?: "full" | "fit";
      };
      data_policy: {
        logging: "on" | "metadata" | "off";
        retention_days: number;
        zdr: boolean;
        no_train: boolean;
        regions: readonly (string)[];
        redact: {
          presets: readonly (string)[];
          patterns: readonly (string)[];
        };
      };
      created_at: string;
      closed_at?: string;
      erasure_requested_at?: string;
      erasure_due_at?: string;
      warnings?: readonly ({
        path: string;
        message: string;
      })[];
    };
  };
  updateProject: {
    params: {
      id: string;
    };
    query: undefined;
    body: {
      name?: string;
      budget?: {
        monthly_micro?: number | null;
        hard?: boolean;
      };
      hold?: "full" | "fit" | null;
    };
    answer: {
      id: string;
      org_id: string;
      slug: string;
      name: string;
      environment: "live" | "test";
      status: "active" | "deleted";
      budget: {
        monthly_micro: number;
        hard: boolean;
      };
      hold?: "full" | "fit";
      spend_today_micro: number;
      spend_month_micro: number;
      created_at: string;
    };
  };
  updateWebhook: {
    params: {
      id: string;
    };
    query: undefined;
    body: {
      url?: string;
      events?: readonly ("key.created" | "key.rotated" | "key.revoked" | "member.added" | "member.joined" | "member.removed" | "org.updated" | "org.closed" | "erasure.requested" | "erasure.done" | "limits.changed" | "ticket.decided" | "policy.activated" | "canary.red" | "endpoint.down" | "budget.exceeded" | "spend.spike" | "credits.low" | "credits.negative" | "topup.paid" | "topup.failed" | "topup.disputed" | "refund.settled" | "refund.failed" | "invoice.issued" | "auto_topup.notified" | "auto_topup.charged" | "auto_topup.failed" | "mandate.active" | "mandate.paused" | "mandate.failed" | "mandate.cancelled" | "subscription.changed" | "subscription.renewed" | "subscription.past_due" | "webhook.disabled")[];
      description?: string;
      status?: "active" | "disabled";
    };
    answer: {
      id: string;
      org_id: string;
      url: string;
      events: readonly ("key.created" | "key.rotated" | "key.revoked" | "member.added" | "member.joined" | "member.removed" | "org.updated" | "org.closed" | "erasure.requested" | "erasure.done" | "limits.changed" | "ticket.decided" | "policy.activated" | "canary.red" | "endpoint.down" | "budget.exceeded" | "spend.spike" | "credits.low" | "credits.negative" | "topup.paid" | "topup.failed" | "topup.disputed" | "refund.settled" | "refund.failed" | "invoice.issued" | "auto_topup.notified" | "auto_topup.charged" | "auto_topup.failed" | "mandate.active" | "mandate.paused" | "mandate.failed" | "mandate.cancelled" | "subscription.changed" | "subscription.renewed" | "subscription.past_due" | "webhook.disabled" | "webhook.test")[];
      description: string;
      status: "active" | "disabled";
      disabled_reason?: "manual" | "gone" | "failing";
      previous_secret_until?: string;
      created_at: string;
    };
  };
  validatePolicy: {
    params: undefined;
    query: undefined;
    body: {
      yaml: string;
    };
    answer: {
      valid: boolean;
      path: string;
      message: string;
      line: number | null;
      column: number | null;
      problems: readonly ({
        path: string;
        message: string;
        line: number;
        column: number;
      })[];
      warnings: readonly ({
        path: string;
        message: string;
        line: number;
        column: number;
      })[];
    };
  };
  watchLive: {
    params: undefined;
    query: {
      kinds?: string;
      project_id?: string;
      key_id?: string;
      model?: string;
      provider?: string;
      status?: "ok" | "error" | "cancelled" | "rejected";
      errors_only?: "0" | "1" | "true" | "false";
      after?: string;
    };
    body: undefined;
    answer: undefined;
    event: {
      event: "hello";
      data: {
        position: string;
        kinds: readonly ("calls" | "credit" | "events")[];
        at: string;
      };
    } | {
      event: "running";
      data: {
        count: number;
        calls: readonly ({
          request_id: string;
          project_id: string;
          key_id: string;
          app_id: string;
          model: string;
          provider: string;
          endpoint_id: string;
          stream: boolean;
          detached: boolean;
          started_at: string;
          ttft_ms: number;
        })[];
      };
    } | {
      event: "call.started";
      data: {
        request_id: string;
        project_id: string;
        key_id: string;
        app_id: string;
        model: string;
        provider: string;
        endpoint_id: string;
        stream: boolean;
        detached: boolean;
        started_at: string;
      };
    } | {
      event: "call.first_token";
      data: {
        request_id: string;
        provider: string;
        endpoint_id: string;
        ttft_ms: number;
      };
    } | {
      event: "call.ended";
      data: {
        request_id: string;
        ts: string;
        project_id: string;
        key_id: string;
        model: string;
        provider: string;
        endpoint_id: string;
        region: string;
        status: "ok" | "error" | "cancelled" | "rejected";
        http_status: number;
        error_code: string;
        stop_reason: string;
        attempts: number;
        input_tokens: number;
        cache_read_tokens: number;
        output_tokens: number;
        usage_source: "provider" | "estimated" | "none";
        cost_micro: number;
        ttft_ms: number;
        duration_ms: number;
        stream: boolean;
        byok: boolean;
        zdr: boolean;
        logged: boolean;
        app_id: string;
        user_hash: string;
      };
    } | {
      event: "credit";
      data: {
        balance_micro_usd: number;
        held_micro_usd: number;
        available_micro_usd: number;
        spent_today_micro_usd: number;
        spent_month_micro_usd: number;
        granted_micro_usd: number;
        display: {
          currency: string;
          amount: string;
        };
        currency: string;
        fx_rate: string;
        mid_rate: string;
        spread_bps: number;
        fx_day: string;
        at: string;
      };
    } | {
      event: "event";
      data: {
        id: string;
        type: "key.created" | "key.rotated" | "key.revoked" | "member.added" | "member.joined" | "member.removed" | "org.updated" | "org.closed" | "erasure.requested" | "erasure.done" | "limits.changed" | "ticket.decided" | "policy.activated" | "canary.red" | "endpoint.down" | "budget.exceeded" | "spend.spike" | "credits.low" | "credits.negative" | "topup.paid" | "topup.failed" | "topup.disputed" | "refund.settled" | "refund.failed" | "invoice.issued" | "auto_topup.notified" | "auto_topup.charged" | "auto_topup.failed" | "mandate.active" | "mandate.paused" | "mandate.failed" | "mandate.cancelled" | "subscription.changed" | "subscription.renewed" | "subscription.past_due" | "webhook.disabled" | "webhook.test";
        created_at: string;
        org_id: string;
        data: unknown;
      };
    } | {
      event: "gap";
      data: {
        missed: number | null;
        started: number;
        ended: number;
        events: number;
      };
    };
  };
}
