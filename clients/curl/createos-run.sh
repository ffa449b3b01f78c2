#!/bin/sh
# createos-run COMMAND [ARGUMENT..]: runs a command in a CreateOS sandbox, prints what it prints, ends as it ends.
# Takes CREATEOS_BASE_URL, CREATEOS_API_KEY and CREATEOS_SANDBOX_ID; needs curl and base64. A failure of its own is told on
# stderr, with status 240 (241: the connection failed, 242: refused by an HTTP status).
# Left out, to stay short: reconnecting, standard input, the command's folder and environment, control characters in its arguments.

processes="$CREATEOS_BASE_URL/v1/sandboxes/$CREATEOS_SANDBOX_ID/processes"
carriage_return=$(printf '\r')
scratch=$(mktemp -d)
id='' reader=''
trap leave EXIT
# In a file of our own, since a list of processes shows arguments.
printf 'header = "X-Api-Key: %s"\n' "$CREATEOS_API_KEY" >"$scratch/key"

leave() {
  [ -z "$reader" ] || kill "$reader" 2>/dev/null
  rm -rf "$scratch"
}

# fail STATUS WORDS: deletes the process, if there is one, and gives up.
fail() {
  status=$1 words=$2
  [ -z "$id" ] || case $(call DELETE "/$id?grace_ms=200" --max-time 5 || echo 'cut off') in
    *'"status":"success"'*'"tree_exited":true'*'}HTTP 2'?? | *'HTTP 404') ;;
    *) words="termination is unconfirmed, after: $words" ;;
  esac
  echo "$words" >&2
  exit "$status"
}

# call METHOD PATH [curl's arguments]: becomes curl, which prints the answer's body and its status behind the last byte.
# Only for a subshell.
call() {
  method=$1 path=$2
  shift 2
  exec curl --config "$scratch/key" --silent --no-buffer --request "$method" --write-out 'HTTP %{http_code}\n' "$@" "$processes$path"
}

# field NAME: sets `value` to that field of $line as it is written, quotes and all; fails if there is none.
field() {
  case $line in *"\"$1\":"*) ;; *) value='' && return 1 ;; esac
  value=${line#*"\"$1\":"}
  value=${value%%[,\}]*}
}

quoted() {
  printf '"%s"' "$(printf '%s' "$1" | sed 's/[\\"]/\\&/g')"
}

command=$(quoted "$1") arguments=''
shift
for argument; do
  arguments="$arguments${arguments:+,}$(quoted "$argument")"
done

line=$(call POST '' --header 'Content-Type: application/json' --data "{\"cmd\":$command,\"args\":[$arguments]}") || line='cut off'
case $line in
  *'"status":"success"'*'}HTTP 2'??) field process_id ;;
  *'HTTP 3'?? | *'HTTP 4'??) fail 242 'creation was refused' ;;
  *) value='' ;;
esac
case $value in
  '' | '""' | \"*[!A-Za-z0-9_-]*\" | [!\"]*) fail 240 'creation could not be confirmed' ;;
esac
[ ${#value} -le 202 ] || fail 240 'creation could not be confirmed'
id=${value#\"} id=${id%\"}

case $(call POST "/$id/stdin/close") in
  *'HTTP 2'?? | *'HTTP 409') ;;
  *'HTTP 000') fail 241 'connection failed' ;;
  *) fail 242 'standard input could not be closed' ;;
esac

mkfifo "$scratch/stream"
call GET "/$id/connect?after=0" --fail >"$scratch/stream" &
reader=$!
cursor=0
while IFS= read -r line; do
  line=${line%"$carriage_return"}
  case $line in
    \{*\}) ;;
    'HTTP 410') fail 240 'output was evicted before it could be read' ;;
    *'HTTP 200') fail 240 'stream ended without an exit status' ;;
    'HTTP 000' | 'HTTP 429' | 'HTTP 5'??) fail 241 'output connection failed' ;;
    'HTTP '???) fail 242 'output was refused' ;;
    *[!\ ]*) fail 240 'invalid process frame' ;;
    *) continue ;;
  esac
  field type
  case $value in
    '"data"')
      field seq
      case $value in '' | 0 | *[!0-9]*) fail 240 'process sequence is invalid' ;; esac
      [ "$value" -gt "$cursor" ] || continue
      [ "$value" -eq $((cursor + 1)) ] || fail 240 'output has a sequence gap'
      cursor=$value
      field stream
      case $value in
        '"stdout"') out=1 ;;
        '"stderr"') out=2 ;;
        *) fail 240 'process output is invalid' ;;
      esac
      field data_base64 || fail 240 'process output is invalid'
      value=${value#\"}
      printf '%s' "${value%\"}" | base64 -d >"$scratch/piece" 2>/dev/null || fail 240 'process output is invalid'
      cat "$scratch/piece" >&$out
      ;;
    '"exit"')
      field exit_code
      case $value in '' | *[!0-9]*) ;; *) [ "$value" -gt 255 ] || exit "$value" ;; esac
      field signal
      case $value in '"SIG'*) leave && value=${value#\"SIG} && kill -s "${value%\"}" $$ ;; esac
      fail 240 'exit status is missing'
      ;;
    '"error"')
      case $line in *output_offset_expired*) fail 240 'output was evicted before it could be read' ;; esac
      fail 240 'process stream reported an error'
      ;;
    '"heartbeat"') ;;
    *) fail 240 'unknown process event' ;;
  esac
done <"$scratch/stream"
fail 241 'output connection failed'
