"""Who asks: the same for every retry of one client, and never the same for two."""

import json
from typing import Any

from orders.problem import Kind, Problem


def of(event: dict[str, Any]) -> str:
    """From what API Gateway has verified. The kind is part of the value. Raises Problem.

    The users of one assumed role are one caller: the session's name changes between a client's retries.
    """
    context = event.get("requestContext") or {}
    claims = (context.get("authorizer") or {}).get("claims") or {}
    if claims.get("iss") and claims.get("sub"):
        return f"jwt:{json.dumps([claims['iss'], claims['sub']])}"
    identity = context.get("identity") or {}
    if identity.get("cognitoIdentityId"):
        return f"identity-pool:{identity['cognitoIdentityId']}"
    account, unique_id = identity.get("accountId"), identity.get("caller")
    if not account or not unique_id:
        raise Problem(Kind.CALLER_UNKNOWN, "Sign the request, or send a token.")
    principal, _, session = unique_id.partition(":")
    if not session:
        return f"user:{account}:{unique_id}"
    if principal == account:  # GetFederationToken: what follows is who it is, not a session of somebody
        return f"federated:{unique_id}"
    return f"role:{account}:{principal}"
