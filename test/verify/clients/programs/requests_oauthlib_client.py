import base64, hashlib, json, os, secrets, sys

from oauthlib.oauth2 import InvalidGrantError
from requests_oauthlib import OAuth2Session

issuer, client_id, redirect = os.environ["ISSUER"], os.environ["CLIENT_ID"], os.environ["REDIRECT_URI"]
session = OAuth2Session(client_id, redirect_uri=redirect, scope=["svc.me.profile:read"])
# This version has no PKCE: the two parameters are the app's.
verifier = secrets.token_urlsafe(32)
challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
url, _ = session.authorization_url(f"{issuer}/authorize", code_challenge=challenge, code_challenge_method="S256")
print(url, flush=True)
secret = os.environ.get("CLIENT_SECRET")
session.fetch_token(
    f"{issuer}/token", authorization_response=sys.stdin.readline().strip(), code_verifier=verifier, client_secret=secret
)
auth = (client_id, secret or "")
renewed = session.refresh_token(f"{issuer}/token", auth=auth)
member = session.get(os.environ["PROFILE"]).json()["id"]
session.post(f"{issuer}/revoke", data={"token": renewed["refresh_token"]}, auth=auth, withhold_token=True).raise_for_status()
try:
    session.refresh_token(f"{issuer}/token", auth=auth)
    revoked = "none"
except InvalidGrantError as error:
    revoked = error.error
print(json.dumps({"member": member, "revoked": revoked}))
