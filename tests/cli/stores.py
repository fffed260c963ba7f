"""The stores that a test runs on: a mixin for each, to be named before the class of tests."""
from redis_server import RedisServer


class OnDirectory:
    pass  # as support.Case has it


class OnRedis:
    def setUp(self):
        super().setUp()
        self.server = RedisServer(self)
        self.redis = self.server.client()
        self.store = self.server.url

    def places(self, name="lock"):
        """As support.Case has it."""
        key = f"holdfast:{{{name}}}"
        return self.redis.exists(key) + self.redis.zcard(key + ":q")
