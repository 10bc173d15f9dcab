# Connects a device: prints where the member enters which code, then two tokens, the second renewed.
export OIDC_ENCRYPTION_PW=secret
mkdir -p "$HOME/.config/oidc-agent"
eval "$(oidc-agent)" >/dev/null
trap 'kill $OIDCD_PID' EXIT
oidc-gen board --flow=device --iss="$ISSUER" --client-id="$CLIENT_ID" --client-secret= --redirect-uri="$REDIRECT_URI" \
  --scope='openid svc.me.profile:read' --prompt=none --pw-env=OIDC_ENCRYPTION_PW --no-url-call 2>&1 | grep --line-buffered -E '/device$|code:'
oidc-token board
oidc-token --force-new board
