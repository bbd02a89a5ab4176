// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// @title A log of every kind, to try filters and decoders on
/// @notice Whoever calls `emitAll` gets them in one transaction, with the least and the greatest values of each type.
contract EveryLog {
    enum Color {
        Red,
        Green,
        Blue
    }

    struct Point {
        int32 x;
        int32 y;
        string label;
    }

    event Nothing();
    event Bool(bool indexed key, bool value);
    event Unsigned(uint8 indexed small, uint256 indexed large, uint128 middle, uint256 value);
    event Signed(int8 indexed small, int256 indexed large, int64 middle, int256 value);
    event Address(address indexed key, address value);
    event FixedBytes(bytes1 indexed small, bytes32 indexed large, bytes4 middle, bytes20 value);
    event Enum(Color indexed key, Color value);
    event Text(string indexed key, string value);
    event Bytes(bytes indexed key, bytes value);
    event Arrays(uint16[] indexed key, uint16[] values, bool[3] flags, string[] words);
    event Struct(Point indexed key, Point value, Point[] more);
    event ThreeTopics(uint256 indexed first, address indexed second, bytes32 indexed third);
    event NoTopics(uint256 first, address second, bytes32 third);
    event Overloaded(uint256 indexed value);
    event Overloaded(string value);
    event Anonymous(uint256 indexed first, address indexed second, bytes32 indexed third, bool indexed fourth, string rest)
        anonymous;
    event AnonymousWithoutTopics(uint256 value) anonymous;

    function emitAll() external {
        bytes32 hash = keccak256("Rialto");
        string memory text = unicode"Grüße, 世界 🌍";
        emit Nothing();
        emit Bool(true, false);
        emit Unsigned(type(uint8).max, type(uint256).max, type(uint128).max, 0);
        emit Signed(type(int8).min, type(int256).min, -1, type(int256).max);
        emit Address(msg.sender, address(this));
        emit FixedBytes(0x01, hash, 0xdeadbeef, bytes20(msg.sender));
        emit Enum(Color.Blue, Color.Red);
        emit Text(text, text);
        emit Bytes(hex"00ff", "");
        _emitArrays();
        Point[] memory more = new Point[](1);
        more[0] = Point(0, 1, "");
        emit Struct(Point(-1, 2, text), Point(type(int32).min, type(int32).max, "far"), more);
        emit ThreeTopics(1, msg.sender, hash);
        emit NoTopics(1, msg.sender, hash);
        emit Overloaded(7);
        emit Overloaded("seven");
        emit Anonymous(1, msg.sender, hash, true, "nothing says what this is");
        emit AnonymousWithoutTopics(42);
    }

    function _emitArrays() private {
        uint16[] memory values = new uint16[](3);
        (values[0], values[2]) = (1, type(uint16).max);
        string[] memory words = new string[](2);
        words[0] = "two";
        words[1] = "words, the second longer than the 32 bytes of a slot";
        emit Arrays(values, values, [true, false, true], words);
    }
}
