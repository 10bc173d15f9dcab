import json, os, sys

from authlib.common.security import generate_token
from authlib.integrations.base_client.errors import OAuthError
from authlib.integrations.requests_client import OAuth2Session

issuer, redirect = os.environ["ISSUER"], os.environ["REDIRECT_URI"]
secret = os.environ.get("CLIENT_SECRET")
session = OAuth2Session(
    os.environ["CLIENT_ID"],
    secret,
    scope="openid svc.me.profile:read",
    redirect_uri=redirect,
    code_challenge_method="S256",
    token_endpoint=f"{issuer}/token",
)
verifier = generate_token(48)
url, state = session.create_authorization_url(f"{issuer}/authorize", code_verifier=verifier, nonce="n")
print(url, flush=True)
session.fetch_token(
    f"{issuer}/token", authorization_response=sys.stdin.readline().strip(), code_verifier=verifier, state=state
)
session.refresh_token(f"{issuer}/token")
member = session.get(os.environ["PROFILE"]).json()["id"]
sub = session.get(f"{issuer}/userinfo").json()["sub"]
token = session.token["refresh_token"]
session.revoke_token(f"{issuer}/revoke", token=token).raise_for_status()
try:
    session.refresh_token(f"{issuer}/token", refresh_token=token)
    revoked = "none"
except OAuthError as error:
    revoked = error.error
print(json.dumps({"member": member, "sub": sub, "revoked": revoked}))
