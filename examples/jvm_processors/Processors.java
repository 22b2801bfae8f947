// Says what this JVM made of its limits, then listens on the port it is given until it is ended.
//
//   java Processors.java PORT
import java.io.IOException;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

public class Processors {
  public static void main(String[] arguments) throws Exception {
    String collector = "other";
    for (GarbageCollectorMXBean bean : ManagementFactory.getGarbageCollectorMXBeans()) {
      if (bean.getName().startsWith("G1")) collector = "G1";
      if (bean.getName().equals("Copy")) collector = "serial";
    }
    int processors = Runtime.getRuntime().availableProcessors();
    System.out.println("processors " + processors + " collector " + collector + ".");
    int port = Integer.parseInt(arguments[0]);
    try (ServerSocket server = new ServerSocket(port, 16, InetAddress.getByName("127.0.0.1"))) {
      while (true) {
        try (Socket client = server.accept()) {
          client.getInputStream().read();
        } catch (IOException gone) {
          // The next one may stay longer.
        }
      }
    }
  }
}
