"""How long a call may take, in seconds, step by step. Past one of them it ends in `TimedOut` or `StreamCut`.

Each limit is about a server that says nothing, or so little that it says nothing: bytes that drip do not begin it anew.
What a legitimate call takes at most is the floor, so that nothing that is paid for is given up too early.
"""

CONNECT_S = 15.0  # name, proxy, connection and TLS; networks that work need two
WRITE_S = 60.0  # for one piece of a request to leave, on a very slow line
POOL_S = 30.0  # for one of 40 connections to become free

# How long the whole head of an answer may take once the request has left, and then how long its body may be silent.
ANSWER_S = 30.0  # lists, balances, limits: looked up, not made
BILLING_S = 60.0  # added up over months
RPC_S = 60.0  # a node that traces a block
EMBEDDING_S = 120.0  # a hundred texts
VIDEO_QUEUE_S = 120.0  # takes the reference videos first
VIDEO_FETCH_S = 120.0  # a video on its way from where it is stored
SETTLE_S = 120.0  # a chain takes its time; services give up after 90 s
IMAGE_S = 300.0  # four large images in one call
SPEECH_S = 300.0  # 4,096 characters, spoken before the first of them is sent
CHAT_S = 600.0  # reasoning models are silent for minutes, and an answer that is not streamed comes when it is whole
TRANSCRIPTION_S = 900.0  # an hour of speech

REFUSAL_S = 10.0  # for the words of a refusal, which is known by its status already
SLOWEST_BYTES_PER_S = 500.0  # an answer that is not written word by word gets this much more time for its size
