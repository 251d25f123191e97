#!/usr/bin/env python3
"""A web server on loopback that behaves as badly as its paths say; prints its port, then serves.

server.py [--tls CERTIFICATE KEY] [--folder FOLDER] [--other PORT]

  /ok/SIZE            SIZE bytes with an ETag; Range and If-Range as RFC 9110 has them
  /file/NAME          a file of the folder, likewise
  /fixed/SIZE         the same bytes, Range ignored
  /drop/EVERY/SIZE    breaks off after EVERY bytes of each answer, Range understood
  /dropfixed/EVERY/SIZE   breaks off, Range ignored
  /swap/EVERY/SIZE    breaks off the first time, then has another ETag and other bytes
  /liar/EVERY/SIZE    breaks off the first time, then has other bytes under the same ETag
  /stall/SIZE         sends half and then nothing
  /silent             answers nothing at all
  /long/SIZE          announces twice what it sends
  /cut/SIZE           sends and announces half of SIZE
  /status/CODE        that status
  /flaky/CODE/TIMES/SIZE  that status so many times, with Retry-After: 0, then the bytes
  /html               a page
  /loop               redirects to itself
  /hop/N/SIZE         N redirects, then the bytes
  /to/URL             redirects to URL (percent-encoded)
  /private/SIZE       wants user "me" with password "s3cret"
  /locked/NAME        a file of the folder, for that user
  /garbage            no HTTP
  /endless            never stops
  /log                what was asked so far: "PATH RANGE AUTHORIZED" a line
"""
import base64
import collections
import hashlib
import http.server
import os
import socket
import socketserver
import ssl
import struct
import sys
import threading
import time
import urllib.parse

TLS = None
FOLDER = None
arguments = sys.argv[1:]
while arguments:
    word = arguments.pop(0)
    if word == "--tls":
        TLS = (arguments.pop(0), arguments.pop(0))
    elif word == "--folder":
        FOLDER = arguments.pop(0)

log = []
counts = collections.Counter()
lock = threading.Lock()


def content(size, salt=0):
    block = bytes((i * 7 + salt) % 251 for i in range(251 * 4))
    return (block * (size // len(block) + 1))[:size]


class Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def send(self, data, status=200, kind="application/octet-stream", headers=(), announce=None):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data) if announce is None else announce))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def ranged(self, data, every=None, etag=None):
        etag = etag or '"' + hashlib.sha256(data).hexdigest()[:16] + '"'
        wanted = self.headers.get("Range", "")
        begin = 0
        headers = [("ETag", etag)]
        status = 200
        if wanted.startswith("bytes=") and self.headers.get("If-Range", etag) == etag:
            begin = int(wanted[6:].split("-")[0])
            if begin >= len(data):
                self.send(b"", 416, headers=[("Content-Range", "bytes */%d" % len(data))])
                return
            status = 206
            headers.append(("Content-Range", "bytes %d-%d/%d" % (begin, len(data) - 1, len(data))))
        rest = data[begin:]
        if every is None or len(rest) <= every:
            self.send(rest, status, headers=headers)
        else:
            self.send(rest[:every], status, headers=headers, announce=len(rest))
            self.reset()

    def reset(self):
        self.wfile.flush()
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        # The bytes are to arrive before the connection is torn down.
        time.sleep(0.05)
        self.close_connection = True
        self.connection.close()

    def redirect(self, to):
        self.send(b"moved", 302, headers=[("Location", to)])

    def do_GET(self):
        words = self.path.split("/")[1:]
        with lock:
            counts[self.path] += 1
            nth = counts[self.path]
            if words[0] != "log":
                log.append("%s %s %s" % (self.path, self.headers.get("Range", "-"),
                                         "yes" if self.headers.get("Authorization") else "no"))
        kind = words[0]
        if kind == "ok":
            self.ranged(content(int(words[1])))
        elif kind == "file":
            with open(os.path.join(FOLDER, urllib.parse.unquote(words[1])), "rb") as file:
                self.ranged(file.read())
        elif kind == "fixed":
            self.send(content(int(words[1])))
        elif kind == "drop":
            self.ranged(content(int(words[2])), int(words[1]))
        elif kind == "dropfixed":
            data = content(int(words[2]))
            if nth == 1:
                self.send(data[:int(words[1])], announce=len(data))
                self.reset()
            else:
                self.send(data)
        elif kind == "swap":
            if nth == 1:
                self.ranged(content(int(words[2]), 1), int(words[1]))
            else:
                self.ranged(content(int(words[2])))
        elif kind == "liar":
            if nth == 1:
                self.ranged(content(int(words[2]), 1), int(words[1]), '"same"')
            else:
                self.ranged(content(int(words[2])), etag='"same"')
        elif kind == "stall":
            data = content(int(words[1]))
            self.send(data[:len(data) // 2], announce=len(data))
            self.wfile.flush()
            time.sleep(60)
        elif kind == "silent":
            time.sleep(60)
        elif kind == "long":
            data = content(int(words[1]))
            self.send(data, announce=2 * len(data))
            self.close_connection = True
        elif kind == "cut":
            self.send(content(int(words[1]))[:int(words[1]) // 2])
        elif kind == "status":
            self.send(b"<html>no</html>", int(words[1]), "text/html")
        elif kind == "flaky":
            if nth <= int(words[2]):
                self.send(b"", int(words[1]), headers=[("Retry-After", "0")])
            else:
                self.send(content(int(words[3])))
        elif kind == "html":
            self.send(b"<!DOCTYPE html>\n<html><body>Please log in</body></html>\n", 200,
                      "text/html; charset=utf-8")
        elif kind == "loop":
            self.redirect("/loop")
        elif kind == "hop":
            left = int(words[1])
            self.redirect("/hop/%d/%s" % (left - 1, words[2]) if left > 1 else "/ok/" + words[2])
        elif kind == "to":
            self.redirect(urllib.parse.unquote(words[1]))
        elif kind in ("private", "locked"):
            expected = "Basic " + base64.b64encode(b"me:s3cret").decode()
            if self.headers.get("Authorization") == expected and kind == "private":
                self.send(content(int(words[1])))
            elif self.headers.get("Authorization") == expected:
                with open(os.path.join(FOLDER, urllib.parse.unquote(words[1])), "rb") as file:
                    self.ranged(file.read())
            else:
                self.send(b"", 401, headers=[("WWW-Authenticate", 'Basic realm="x"')])
        elif kind == "garbage":
            self.wfile.write(b"\x16\x03\x01 what is this\r\n\r\n")
            self.close_connection = True
        elif kind == "endless":
            self.send_response(200)
            self.end_headers()
            try:
                while True:
                    self.wfile.write(b"\0" * 65536)
            except OSError:
                self.close_connection = True
        elif kind == "log":
            self.send("".join(line + "\n" for line in log).encode())
        else:
            self.send(b"", 404)


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request, client_address):
        pass


server = Server(("127.0.0.1", 0), Answer)
if TLS:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*TLS)
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
print(server.server_address[1], flush=True)
server.serve_forever()
