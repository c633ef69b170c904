// Made by scripts/console-types.ts from the API's description: change that, not this.

/** Method, path, and who may call it, as `x-svc-access` says. */
export const ROUTES = {
  createKey: ["POST", "/v1/keys", "write:keys / member"],
  getCredits: ["GET", "/v1/credits", "read:billing / everyone"],
  getMe: ["GET", "/auth/me", "no key / signed in"],
  getUsage: ["GET", "/v1/usage", "read:usage / viewer"],
  listKeys: ["GET", "/v1/keys", "read:keys / viewer"],
  listModels: ["GET", "/v1/models", "key / everyone"],
  listRequests: ["GET", "/v1/requests", "read:usage / viewer"],
  logout: ["POST", "/auth/logout", "public"],
} as const;

/** Which levels of access each role opens. */
export const ROLE_OPENS = {
  owner: ["owner", "admin", "member", "billing", "viewer", "everyone"],
  admin: ["admin", "member", "billing", "viewer", "everyone"],
  billing: ["billing", "everyone"],
  member: ["member", "viewer", "everyone"],
  viewer: ["viewer", "everyone"],
} as const;

export interface Operations {
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
      on_disconnect?: "cancel" | "drain";
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
      on_disconnect: "cancel" | "drain";
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
      csrf_token: string;
      session: {
        id: string;
        created_at: string;
        ends_at: string;
        ip_prefix: string;
        user_agent: string;
        current: boolean;
      };
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
  listKeys: {
    params: undefined;
    query: {
      q?: string;
      project_id?: string;
      kind?: "key" | "playground" | "any";
      status?: "active" | "rotating" | "revoked" | "expired";
      created_by?: string;
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
        on_disconnect: "cancel" | "drain";
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
  listRequests: {
    params: undefined;
    query: {
      since?: string;
      until?: string;
      project_id?: string;
      key_id?: string;
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
  logout: {
    params: undefined;
    query: undefined;
    body: undefined;
    answer: {
      logout_url: string;
    };
  };
}
